// Fashion-MNIST in small: files of some images that say nothing, for runs of milliseconds.
#pragma once

#include <string>

namespace mantissa::test {

// Makes the directory and its four files.
void write_tiny_data(const std::string& directory, int training, int validation);

// A network that trains in milliseconds; its file is made.
void write_tiny_network(const std::string& path);

}  // namespace mantissa::test
