-- Writes offset and state changes of a shard in one step, if the fence stands at the writer's token.
--
-- KEYS     1 checkpoint hash (fence, commit, offset, committed), 2 state hash
-- ARGV     1 token, 2 number of the commit under that token, 3 offset or '' to leave it,
--          4 number of entries to put, key, value, …, then keys to remove
-- result   'COMMITTED', 'STALE', or 'GONE' when there is no checkpoint: Redis was emptied since the acquisition
-- keeps    all of it is written or nothing; a commit that arrives late, after its successor, writes nothing
-- cost     O(changes)

local fence = redis.call('HMGET', KEYS[1], 'fence', 'commit')
if not fence[1] then
  return 'GONE'
end
local number, last = tonumber(ARGV[2]), tonumber(fence[2] or '0')
if fence[1] ~= ARGV[1] or number < last then
  return 'STALE'
end
if number == last then
  -- Sent again by the client after it lost the connection: it was written.
  return 'COMMITTED'
end
local time = redis.call('TIME')
if ARGV[3] ~= '' then
  redis.call('HSET', KEYS[1], 'offset', ARGV[3])
end
redis.call('HSET', KEYS[1], 'commit', ARGV[2],
  'committed', time[1] .. string.format('%03d', math.floor(tonumber(time[2]) / 1000)))
local puts = tonumber(ARGV[4])
for i = 5, 4 + 2 * puts, 2 do
  redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1])
end
for i = 5 + 2 * puts, #ARGV do
  redis.call('HDEL', KEYS[2], ARGV[i])
end
return 'COMMITTED'
