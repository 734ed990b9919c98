-- Reads the due records of a shard's retry queue. Removes none.
--
-- ARGV     1 most records to read, 2 most bytes, which the first record may exceed; then offsets of records to omit,
--          because the caller has them
-- result   {millis until more records are due or '', offset, record, …}, in the order of their due times
-- memory   needs none
-- cost     O(records in the reply + omitted ones + log of the retry queue), and what is read is copied: the caller asks
--          for 1 MB at most

local missing = missingEntries('retry')
if missing then
  return missing
end
local limit, room = tonumber(ARGV[1]), tonumber(ARGV[2])
local unwanted = {}
for i = 3, #ARGV do
  unwanted[ARGV[i]] = true
end
local result = {''}
-- Number of the queue's first records that are read, or not wanted.
local passed = 0
local offsets = limit > 0
  and redis.call('ZRANGEBYSCORE', RETRY, '-inf', text(nowMillis), 'LIMIT', 0, limit + #ARGV - 2) or {}
for _, offset in ipairs(offsets) do
  if unwanted[offset] then
    passed = passed + 1
  else
    local bytes = redis.call('HSTRLEN', RETRIED, offset)
    if bytes == 0 then
      -- No script leaves one without the other: remove what others have added.
      redis.call('ZREM', RETRY, offset)
    elseif #result > 2 * limit or #result > 1 and bytes > room then
      break
    else
      result[#result + 1] = offset
      result[#result + 1] = redis.call('HGET', RETRIED, offset)
      room = room - bytes
      passed = passed + 1
    end
  end
end
result[1] = dueIn(passed)
return result
