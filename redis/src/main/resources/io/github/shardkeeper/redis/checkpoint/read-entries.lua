-- Reads some entries of a state for the shard's owner. Writes nothing.
--
-- ARGV     1 token, 2 number of the last answered commit under it, 0 for none, 3 acquisition that it is based on, 0 for
--          none, then the keys
-- result   {1, value or nil, …}, in the order of the keys; or {0} if the state is not the one that the owner's commits
--          have made: there is a newer token, or Redis has lost the acquisition, the answered commit or entries of the state
-- keeps    an owner whose commits are lost sees nothing of what is left
-- cost     O(keys)

if not isStateOf(ARGV[1], ARGV[2], ARGV[3]) then
  return {0}
end
if #ARGV == 3 then
  return {1}
end
return {1, unpack(redis.call('HMGET', STATE, unpack(ARGV, 4)))}
