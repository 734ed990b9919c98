-- Stores a copy of an offset whose checkpoint is in another store, for trimming, unless there is one of a later commit, or
-- a later owner has acquired the shard here: an instance that was frozen may send its copy late.
--
-- KEYS     1 checkpoint hash of the shard
-- ARGV     1 the offset, 2 the token of the commit, 3 the number of the commit under that token
-- result   1, or 0 if nothing was stored
-- keeps    a copy is never replaced by one of an earlier commit
-- memory   accepted at `maxmemory`, because trimming waits for it: two fields per shard
-- cost     O(1)

writeBeforeWait(KEYS[1])

local token, number = tonumber(ARGV[2]), tonumber(ARGV[3])
local stored = redis.call('HMGET', KEYS[1], 'fence', 'copied')
local copiedToken, copiedNumber = string.match(stored[2] or '', '^(%d+) (%d+)$')
local before = tonumber(copiedToken or '0')
if tonumber(stored[1] or '0') > token or before > token or before == token and tonumber(copiedNumber) > number then
  return 0
end
redis.call('HSET', KEYS[1], 'copy', ARGV[1], 'copied', ARGV[2] .. ' ' .. ARGV[3])
return 1
