// What lies in the data directory under the names that the server uses.
//
// Looked at once, before anything is opened: a directory or a FIFO in a file's place would give messages that lead
// astray, or be waited for without end. Links are followed: the parts of a data directory may lie on several disks.
#pragma once

#include <string>

#include "base/result.h"

namespace teson {

// kInvalid: says what lies where, what belongs there, and what to do. What is absent is right.
// The lock and the control socket are looked at by those who open them.
Status check_data_files(const std::string& data);

// Takes from others what rights they have to these files (a backup that was put back, say): where jobs run as accounts
// of their own, everybody may go through the data directory. What cannot be changed is not.
void close_data_files(const std::string& data);

}  // namespace teson
