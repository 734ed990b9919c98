-- Lists dead letters, the oldest first. Removes none.
--
-- ARGV     1 id of the letter before the first one, '' to begin, 2 most letters to read, 3 bytes after which to stop
-- result   {id, offset, about, payload, …}, empty only at the end; '' for fields that an entry does not have
-- cost     O(letters in the reply), and what is read is copied: the caller asks for 1 MB, and one letter may be larger

local after, limit, room = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local result = {}
while #result < 4 * limit and (room > 0 or #result == 0) do
  -- One by one, because the size of an entry is known only after it is read.
  local entry = redis.call('XRANGE', DEAD, after == '' and '-' or '(' .. after, '+', 'COUNT', 1)[1]
  if not entry then
    break
  end
  local letter = {offset = '', about = '', payload = ''}
  for i = 1, #entry[2], 2 do
    letter[entry[2][i]] = entry[2][i + 1]
  end
  after = entry[1]
  result[#result + 1] = after
  result[#result + 1] = letter.offset
  result[#result + 1] = letter.about
  result[#result + 1] = letter.payload
  room = room - #letter.about - #letter.payload
end
return result
