-- Stores a request to consume a shard from another position. The owner carries it out with a commit.
--
-- ARGV     1 '1' to remove the shard's state with it or '0', 2 offset after which to resume, 3 '1' to give up a checkpoint
--          that the database has, or '0'
-- result   the number of the request; '' if the shard is completed; 'ELSEWHERE' if the database has its checkpoint
-- keeps    a pending request is found by the owner that is notified, or by the next one. Numbers rise and are never
--          given twice, also after Redis has lost some
-- memory   accepted at `maxmemory`: a field
-- cost     O(1)

writeBeforeWait(CHECKPOINT)

local checkpoint = redis.call('HMGET', CHECKPOINT, 'completed', 'seek', 'sought', 'elsewhere')
if checkpoint[4] and ARGV[3] == '0' then
  return 'ELSEWHERE'
end
if checkpoint[1] then
  return ''
end
local last = math.max(seekNumber(checkpoint[2]), tonumber(checkpoint[3] or '0'))
local number = text(math.max(last + 1, nowMillis))
redis.call('HSET', CHECKPOINT, 'seek', number .. ' ' .. ARGV[1] .. ' ' .. ARGV[2])
return number
