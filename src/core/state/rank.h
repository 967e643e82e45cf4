// A sorted set that also knows how many of its elements come before a key: a job's place in its queue, in O(log n).
#pragma once

#include <ext/pb_ds/assoc_container.hpp>
#include <ext/pb_ds/tree_policy.hpp>
#include <functional>

namespace teson {

// insert(key), erase(key), size(), order_of_key(key): the number of smaller ones.
template <class Key>
using RankedSet = __gnu_pbds::tree<Key, __gnu_pbds::null_type, std::less<Key>, __gnu_pbds::rb_tree_tag,
                                   __gnu_pbds::tree_order_statistics_node_update>;

}  // namespace teson
