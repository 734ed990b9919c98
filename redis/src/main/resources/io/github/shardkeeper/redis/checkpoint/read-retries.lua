-- Reads records of a shard's retry queue, due or not. Removes none.
--
-- ARGV     1 most bytes, which the first record may exceed; then offsets
-- result   {offset, record, …}, the first of those that exist, in the order of the offsets
-- memory   needs none
-- cost     O(offsets), and what is read is copied: the caller asks for 1 MB at most

local missing = missingEntries('retry')
if missing then
  return missing
end
local room = tonumber(ARGV[1])
local result = {}
for i = 2, #ARGV do
  local bytes = redis.call('HSTRLEN', RETRIED, ARGV[i])
  if bytes > 0 then
    if #result > 0 and bytes > room then
      break
    end
    result[#result + 1] = ARGV[i]
    result[#result + 1] = redis.call('HGET', RETRIED, ARGV[i])
    room = room - bytes
  end
end
return result
