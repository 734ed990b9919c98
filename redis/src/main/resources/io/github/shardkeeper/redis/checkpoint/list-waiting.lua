-- Lists a part of what is in a shard's retry queue, due or not, without payloads. Removes none.
--
-- ARGV     1 cursor, '0' to begin
-- result   {next cursor, '0' after the last part, number of records in the queue, then for each record offset, millis
--          until it is due, about ('' if others have removed the record), bytes}, unordered
-- keeps    every record that is there from the first part to the last is in one of them, also if it becomes due at
--          another time; one may occur twice. A cursor is invalid in another process of Redis, after a failover or a
--          move of the slot: the reader counts the records
-- cost     O(a part of the queue: about 100 records, or 128), which are copied inside Redis with their payloads

local missing = missingEntries('retry')
if missing then
  return missing
end
local page = redis.call('ZSCAN', RETRY, ARGV[1], 'COUNT', 100)
local result = {page[1], text(redis.call('ZCARD', RETRY))}
for i = 1, #page[2], 2 do
  local offset = page[2][i]
  local record = redis.call('HGET', RETRIED, offset) or ''
  result[#result + 1] = offset
  result[#result + 1] = text(math.max(0, tonumber(page[2][i + 1]) - nowMillis))
  result[#result + 1] = string.match(record, '^[^\n]*')
  result[#result + 1] = text(#record)
end
return result
