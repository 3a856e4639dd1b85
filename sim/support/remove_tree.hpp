// Removes a file, or a directory with all that is in it, with calls that a signal handler may make.
#pragma once

namespace mantissa {

// `path` is relative to the directory `at` (or AT_FDCWD). Links are removed, never followed. False: something
// is left, because it may not be removed or lies deeper than any directory that this program makes.
bool remove_tree(int at, const char* path) noexcept;

}  // namespace mantissa
