-- Reads what is due in a shard's retry queue; takes nothing out.
--
-- ARGV     1 the most records to read
-- result   {millis until there is more or '', offset, record, …}, what was due first comes first
-- cost     O(records in the reply + log of the retry queue)

local limit = tonumber(ARGV[1])
local result = {''}
local offsets = limit > 0 and redis.call('ZRANGEBYSCORE', RETRY, '-inf', text(nowMillis), 'LIMIT', 0, limit) or {}
for _, offset in ipairs(offsets) do
  local record = redis.call('HGET', RETRIED, offset)
  if record then
    result[#result + 1] = offset
    result[#result + 1] = record
  else
    -- Nothing of ours leaves one without the other.
    redis.call('ZREM', RETRY, offset)
  end
end
result[1] = dueIn((#result - 1) / 2)
return result
