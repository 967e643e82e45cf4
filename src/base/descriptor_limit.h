// How many files this process may have open: the soft limit is raised to the hard one, as a server has one per client
// and attempt. Programs that it starts get the soft limit back that it was started with: select(2) breaks beyond 1024,
// and some close every number up to the limit.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace teson {

// Once, before there are threads.
void raise_descriptor_limit();
uint64_t descriptor_limit();
// Of a child that was just made and has not yet made others. Nothing where the limit was not raised.
void restore_descriptor_limit(pid_t child);

}  // namespace teson
