-- Reads the next page of a state.
--
-- ARGV     1 fence, 2 number of the last commit, both as they were when the first page was read, 3 cursor
-- result   {cursor, {key, value, …}}, or {'CHANGED'} if the shard was acquired or committed since
-- keeps    all pages are of one state. An entry may occur twice, and a cursor is invalid in another process of Redis,
--          after a failover or a move of the slot: the reader counts the entries
-- cost     O(a page of the state)

local now = redis.call('HMGET', CHECKPOINT, 'fence', 'commit')
if (now[1] or '0') ~= ARGV[1] or (now[2] or '0') ~= ARGV[2] then
  return {'CHANGED'}
end
return statePage(ARGV[3])
