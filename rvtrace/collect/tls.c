/*
 * TLS for sockets, by what GLib has for it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "collect/tls.h"

static bool is_wanted(const TlsFiles *files)
{
    return files->cert || files->key || files->ca;
}

static GTlsCertificate *load_cert(const TlsFiles *files, GError **errp)
{
    GTlsCertificate *cert = files->key ?
        g_tls_certificate_new_from_files(files->cert, files->key, errp) :
        g_tls_certificate_new_from_file(files->cert, errp);

    if (!cert) {
        g_prefix_error(errp, "%s%s%s: ", files->cert,
                       files->key ? " and " : "", files->key ?: "");
    }
    return cert;
}

static GTlsDatabase *load_ca(const TlsFiles *files, GError **errp)
{
    g_autofree char *whole = g_canonicalize_filename(files->ca, NULL);
    GTlsDatabase *ca = g_tls_file_database_new(whole, errp);

    if (!ca) {
        g_prefix_error(errp, "%s: ", files->ca);
    }
    return ca;
}

/* Those that are named */
static bool load(const TlsFiles *files, GTlsCertificate **cert,
                 GTlsDatabase **ca, GError **errp)
{
    if (files->cert) {
        *cert = load_cert(files, errp);
        if (!*cert) {
            return false;
        }
    }
    if (files->ca) {
        *ca = load_ca(files, errp);
        if (!*ca) {
            return false;
        }
    }
    return true;
}

bool tls_check(const TlsFiles *files, bool server, GError **errp)
{
    g_autoptr(GTlsCertificate) cert = NULL;
    g_autoptr(GTlsDatabase) ca = NULL;

    if (!is_wanted(files)) {
        return true;
    }
    if (!g_tls_backend_supports_tls(g_tls_backend_get_default())) {
        g_set_error(errp, G_TLS_ERROR, G_TLS_ERROR_UNAVAILABLE,
                    "GLib has no TLS here; install glib-networking");
        return false;
    }
    if (files->key && !files->cert) {
        g_set_error(errp, G_TLS_ERROR, G_TLS_ERROR_BAD_CERTIFICATE,
                    "--tls-key goes with --tls-cert");
        return false;
    }
    if (server && !files->cert) {
        g_set_error(errp, G_TLS_ERROR, G_TLS_ERROR_BAD_CERTIFICATE,
                    "where the other side connects to us (,server), "
                    "--tls-cert and --tls-key are needed");
        return false;
    }
    return load(files, &cert, &ca, errp);
}

static GTlsConnection *new_connection(GSocketConnection *conn,
                                      const Address *address,
                                      GTlsCertificate *cert, GError **errp)
{
    g_autoptr(GSocketConnectable) host = NULL;
    GIOStream *io;

    if (address->server) {
        io = g_tls_server_connection_new(G_IO_STREAM(conn), cert, errp);
        if (io) {
            /* Who connects fills our files: ask for a certificate. */
            g_object_set(io, "authentication-mode",
                         G_TLS_AUTHENTICATION_REQUIRED, NULL);
        }
    } else {
        /* A UNIX socket has no host that a certificate could be of. */
        host = address->host ? g_network_address_new(address->host,
                                                     address->port) : NULL;
        io = g_tls_client_connection_new(G_IO_STREAM(conn), host, errp);
        if (io && cert) {
            g_tls_connection_set_certificate(G_TLS_CONNECTION(io), cert);
        }
    }
    return io ? G_TLS_CONNECTION(io) : NULL;
}

/* A server is asked about certificates that are fine, too. */
static gboolean on_certificate(GTlsConnection *tls, GTlsCertificate *cert,
                               GTlsCertificateFlags wrong, gpointer to)
{
    *(GTlsCertificateFlags *)to = wrong;
    return !wrong;
}

/* What is wrong with the other side's certificate, in words */
static void explain(GTlsCertificateFlags wrong, const TlsFiles *files,
                    GError **errp)
{
    const struct {
        GTlsCertificateFlags flag;
        const char *text;
    } texts[] = {
        { G_TLS_CERTIFICATE_BAD_IDENTITY, "it is of another host" },
        { G_TLS_CERTIFICATE_NOT_ACTIVATED, "it is not valid yet" },
        { G_TLS_CERTIFICATE_EXPIRED, "it has expired" },
        { G_TLS_CERTIFICATE_REVOKED, "it was revoked" },
        { G_TLS_CERTIFICATE_INSECURE, "its algorithm or key is too weak" },
        { G_TLS_CERTIFICATE_UNKNOWN_CA, files->ca ?
          "it is not signed by that of --tls-ca" :
          "nobody whom the system trusts has signed it; give --tls-ca FILE" },
        { G_TLS_CERTIFICATE_GENERIC_ERROR, "it is not meant for this" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        if (wrong & texts[i].flag) {
            g_prefix_error(errp, "%s: ", texts[i].text);
        }
    }
}

GIOStream *tls_begin(const TlsFiles *files, GSocketConnection *conn,
                     const Address *address, unsigned timeout,
                     GCancellable *cancel, GError **errp)
{
    GSocket *socket = g_socket_connection_get_socket(conn);
    g_autoptr(GTlsConnection) tls = NULL;
    g_autoptr(GTlsCertificate) cert = NULL;
    g_autoptr(GTlsDatabase) ca = NULL;
    GTlsCertificateFlags wrong = 0;
    bool ok;

    if (!is_wanted(files)) {
        return g_object_ref(G_IO_STREAM(conn));
    }
    if (!load(files, &cert, &ca, errp)) {
        return NULL;
    }
    tls = new_connection(conn, address, cert, errp);
    if (!tls) {
        return NULL;
    }
    if (ca) {
        g_tls_connection_set_database(tls, ca);
    }
    /* QEMU may be killed, and ends without it then, as any socket does. */
    g_tls_connection_set_require_close_notify(tls, FALSE);
    g_signal_connect(tls, "accept-certificate", G_CALLBACK(on_certificate),
                     &wrong);
    g_socket_set_timeout(socket, timeout);
    ok = g_tls_connection_handshake(tls, cancel, errp);
    g_socket_set_timeout(socket, 0);
    g_signal_handlers_disconnect_by_data(tls, &wrong);
    if (!ok) {
        explain(wrong, files, errp);
    }
    return ok ? G_IO_STREAM(g_steal_pointer(&tls)) : NULL;
}
