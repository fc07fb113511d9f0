#include "trace/trace-hw_trace.h"
