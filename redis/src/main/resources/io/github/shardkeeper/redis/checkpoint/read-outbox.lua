-- Reads records that a shard has sent and that are not forwarded, in the order of their places. Removes none.
--
-- ARGV     1 place of the last record that was read, '' to begin, 2 most records to read, 3 most bytes, which the first
--          record may exceed
-- result   {place, topic/id of the target, about, payload, …}
-- memory   needs none
-- cost     O(records in the reply), and what is read is copied: the caller asks for 1 MB at most

local missing = missingEntries('outbox')
if missing then
  return missing
end
local after, limit, room = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local result = {}
while #result < 4 * limit do
  local entry = redis.call('XRANGE', OUTBOX, after == '' and '-' or '(' .. after, '+', 'COUNT', 1)[1]
  if not entry then
    break
  end
  local fields = {}
  for i = 1, #entry[2], 2 do
    fields[entry[2][i]] = entry[2][i + 1]
  end
  room = room - #(fields.about or '') - #(fields.payload or '')
  if room < 0 and #result > 0 then
    break
  end
  after = entry[1]
  for _, part in ipairs({after, fields.to or '', fields.about or '', fields.payload or ''}) do
    result[#result + 1] = part
  end
end
return result
