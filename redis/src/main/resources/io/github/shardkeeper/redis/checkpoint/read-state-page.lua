-- Reads the next page of a state.
--
-- ARGV     1 fence, 2 number of the last commit, both as they were when the first page was read, 3 cursor
-- result   {cursor, {key, value, …}}, or {'CHANGED'} when somebody has acquired the shard or committed since
-- keeps    pages of one state are read, never of two. An entry may come twice, and a cursor means nothing to another
--          process of Redis, after a failover or a move of the slot: the reader counts
-- cost     O(a page of the state)

local now = redis.call('HMGET', CHECKPOINT, 'fence', 'commit')
if (now[1] or '0') ~= ARGV[1] or (now[2] or '0') ~= ARGV[2] then
  return {'CHANGED'}
end
return statePage(ARGV[3])
