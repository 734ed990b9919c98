-- Appends records that their sender has numbered, but those that the stream has received before.
--
-- KEYS     1 the stream, which need not exist, 2 what it has received: hash, sender -> era, number of the last record,
--          token of the owner that has sent it, with spaces between them
-- ARGV     1 sender, 2 era, 3 token of its owner, 4 number of the first record: all before it were appended, 5 highest
--          number that other owners may have sent, 6 token of the owner that has committed them, or 0 if it is the same
--          one: owners before it have sent others under these numbers, 7 number of records; then for each the number
--          of its fields and values, and these
-- result   {'APPENDED', number of records that were there before}, or {'SUPERSEDED', era, token of the owner that has
--          sent its last record} if a higher era, or a number that cannot be that of these records, was received
-- keeps    each number is appended once, in the order of the numbers; a call that arrives late, or twice, appends
--          nothing that was appended before
-- memory   refused at `maxmemory`, unless all records are there
-- cost     O(records)

local STREAM, RECEIVED, sender = KEYS[1], KEYS[2], ARGV[1]
for i, expected in ipairs({'stream', 'hash'}) do
  local found = redis.call('TYPE', KEYS[i]).ok
  if found ~= expected and found ~= 'none' then
    return redis.error_reply('ERR the key ' .. KEYS[i] .. ' holds a ' .. found .. ', not the ' .. expected ..
      ' that belongs there, so nothing was written; move it away with RENAME or remove it with DEL')
  end
end

-- Arguments that Lua can pass on at once; Redis' limit is about 8,000.
local MOST_TEXTS = 6010

local received = redis.call('HGET', RECEIVED, sender) or ''
local era, number, owner = string.match(received, '^(%d+) (%d+) (%d+)$')
era, number = tonumber(era or '0'), tonumber(number or '0')
local first, count = tonumber(ARGV[4]), tonumber(ARGV[7])
if era > tonumber(ARGV[2]) or era == tonumber(ARGV[2]) and owner ~= ARGV[3] and
  (number > tonumber(ARGV[5]) or number >= first and tonumber(owner) < tonumber(ARGV[6])) then
  return {'SUPERSEDED', string.format('%.0f', era), owner}
end

local last = math.max(era == tonumber(ARGV[2]) and number or 0, first - 1)
local before = math.min(last - first + 1, count)
if before == count then
  return {'APPENDED', tostring(count)}
end

-- Redis undoes nothing, so what would fail later is found before the first write.
local check = 8
for _ = 1, count do
  local values = tonumber(ARGV[check])
  if values > MOST_TEXTS then
    return redis.error_reply('ERR a record has more than ' .. (MOST_TEXTS / 2) ..
      ' headers, which is too many for a script, so nothing was appended')
  end
  check = check + 1 + values
end

local function receive(through)
  redis.call('HSET', RECEIVED, sender, ARGV[2] .. ' ' .. string.format('%.0f', through) .. ' ' .. ARGV[3])
end

-- First what has no effect yet: a missing right, or missing memory, shows before anything is appended.
receive(last)
local position = 8
for i = 1, count do
  local values = tonumber(ARGV[position])
  if i > before then
    redis.call('XADD', STREAM, '*', unpack(ARGV, position + 1, position + values))
  end
  position = position + 1 + values
end
receive(first + count - 1)
return {'APPENDED', tostring(before)}
