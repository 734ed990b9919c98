-- Reads all directives.
--
-- ARGV     1 most entries, 2 most bytes of an entry
-- result   {'READ', version, then name and text of each; '' in place of a text that is too long}, {'WRONGTYPE', version},
--          or {'TOOMANY', version, number of entries}
-- memory   needs none
-- cost     O(directives)

local seen = string.format('%.0f', version())
local number = count()
if not number then
  return {'WRONGTYPE', seen}
end
if number > tonumber(ARGV[1]) then
  return {'TOOMANY', seen, number}
end
local reply = {'READ', seen}
local most = tonumber(ARGV[2])
for i, value in ipairs(redis.call('HGETALL', DIRECTIVES)) do
  local isTooLong = #value > most
  reply[#reply + 1] = isTooLong and string.sub(value, 1, i % 2 == 1 and 100 or 0) or value
end
return reply
