-- Writes offset and state changes of a shard in one step, if the fence stands at the writer's token.
--
-- KEYS     1 checkpoint hash (fence, commit, offset, committed), 2 state hash
-- ARGV     1 token, 2 number of the commit under that token, 3 number of the last one that was answered, 0 for none,
--          4 offset or '' to leave it, 5 number of entries to put, key, value, …, then keys to remove
-- result   'COMMITTED'; 'STALE' when a newer token or a later commit was there before; or 'GONE' when Redis has lost
--          what the commit rests on: the checkpoint, the acquisition under the token, or the commit that was answered
-- keeps    all of it is written or nothing; a commit that arrives late, after its successor, writes nothing
-- cost     O(changes)

local checkpoint = redis.call('HMGET', KEYS[1], 'fence', 'commit')
local fence, last = tonumber(checkpoint[1] or '0'), tonumber(checkpoint[2] or '0')
local token, number, answered = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
if not checkpoint[1] or fence < token then
  return 'GONE'
end
if fence > token or number < last then
  return 'STALE'
end
if number == last then
  -- Sent again by the client after it lost the connection: it was written.
  return 'COMMITTED'
end
if last < answered then
  return 'GONE'
end
local time = redis.call('TIME')
if ARGV[4] ~= '' then
  redis.call('HSET', KEYS[1], 'offset', ARGV[4])
end
redis.call('HSET', KEYS[1], 'commit', ARGV[2],
  'committed', time[1] .. string.format('%03d', math.floor(tonumber(time[2]) / 1000)))
local puts = tonumber(ARGV[5])
for i = 6, 5 + 2 * puts, 2 do
  redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1])
end
for i = 6 + 2 * puts, #ARGV do
  redis.call('HDEL', KEYS[2], ARGV[i])
end
return 'COMMITTED'
