-- Appends the records of a batch to a stream once, however often the same batch arrives, until an hour after the
-- producer's last one: then it is forgotten, and would be appended again.
--
-- KEYS     1 the stream
--          2 what the producer has appended last to it: string of the batch's number and its entry ids, with spaces
--            between them; of an id with the same millis as the one before, only the part after them
--          3, 4 only if records have ids that Redis does not remember itself: two hashes that take turns, id -> entry
--            id; '' -> number of its turn and when that has begun (millis), with a space between them
-- ARGV     1 number of the batch under its producer, 2 time for which ids are remembered (millis), 3 number of ids in a
--          hash after which the other one takes its turn; then for each record producer and id for Redis' own XADD with
--          IDMP, or '' and the id, or '' and '' for none; number of texts that follow; names and values of its fields
-- result   'APPENDED', number of records that were there before (without those that Redis has recognized itself), entry
--          id of each record; 'LATE' if the producer has appended a later batch; or 'PARTLY', error: only the first of
--          the records are appended, which a repetition of the batch continues. An error, and nothing is appended, if
--          memory or a right is missing, or a key has another type
-- keeps    a batch's records are appended once, in their order, as long as KEYS 2 is there; a record whose id is
--          remembered is not appended, and gets the entry id of the first one. The stream may be trimmed meanwhile
-- memory   refused at `maxmemory`
-- cost     O(records)

local STREAM, PRODUCER, IDS = KEYS[1], KEYS[2], {KEYS[3], KEYS[4]}
local number, retention, most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])

-- The time in which a repetition may still arrive, millis.
local KEEP_PRODUCER = 3600000

-- Arguments that Lua can pass on at once; Redis' limit is about 8,000.
local MOST_TEXTS = 6000

local records = {}
local withIds = false
local place = 4
while place <= #ARGV do
  local texts = tonumber(ARGV[place + 2])
  if texts > MOST_TEXTS then
    return redis.error_reply('ERR a record has more than ' .. (MOST_TEXTS / 2) ..
      ' headers, which is too many for a script, so nothing was appended')
  end
  records[#records + 1] = {native = ARGV[place], id = ARGV[place + 1], from = place + 3, to = place + 2 + texts}
  withIds = withIds or ARGV[place + 1] ~= '' and ARGV[place] == ''
  place = place + 3 + texts
end

-- Numbers up to 2^53 as text; Lua's own conversion would write them as 1.7e+15.
local function text(value)
  return string.format('%.0f', value)
end

local entries = {}
local last = redis.call('GET', PRODUCER)
local lastNumber = last and tonumber(string.match(last, '^%d+')) or 0
if lastNumber > number then
  return {'LATE'}
end
if lastNumber == number then
  local millis
  for before, sequence in string.gmatch(string.gsub(last, '^%d+', '', 1), ' (%d*)%-(%d+)') do
    millis = before ~= '' and before or millis
    entries[#entries + 1] = millis .. '-' .. sequence
  end
end
if #entries == #records then
  return {'APPENDED', tostring(#records), unpack(entries)}
end

local function remember()
  local stored, millis = {ARGV[1]}, nil
  for _, entry in ipairs(entries) do
    local before, sequence = string.match(entry, '^(%d+)(%-%d+)$')
    stored[#stored + 1] = before == millis and sequence or entry
    millis = before
  end
  redis.call('SET', PRODUCER, table.concat(stored, ' '), 'PX', KEEP_PRODUCER)
end

-- Which hash takes new ids: that of the later turn. Times do not tell, because several turns may begin in the same
-- millisecond, and a clock may be set back.
local current = 1
local mark
local beginTurn = false
if withIds then
  local time = redis.call('TIME')
  local nowMillis = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  local turns, begun = {0, 0}, {0, 0}
  for i = 1, 2 do
    local turn, millis = string.match(redis.call('HGET', IDS[i], '') or '', '^(%d+) (%d+)$')
    turns[i], begun[i] = tonumber(turn or '0'), tonumber(millis or '0')
  end
  current = turns[2] > turns[1] and 2 or 1
  local turn = turns[current]
  beginTurn = turn == 0 or nowMillis - begun[current] >= retention or redis.call('HLEN', IDS[current]) > most
  if beginTurn then
    current = turn == 0 and current or 3 - current
    mark = text(turn + 1) .. ' ' .. text(nowMillis)
  else
    mark = text(turn) .. ' ' .. text(math.min(begun[current], nowMillis))
  end
end

-- First what may be refused for lack of memory or of a right, or for the type of a key, in an order that leaves nothing
-- behind that counts: Redis undoes nothing, and looks at the memory only until the first write.
redis.call('XLEN', STREAM)
remember()
if beginTurn then
  redis.call('UNLINK', IDS[current])
end
if withIds then
  redis.call('HSET', IDS[current], '', mark)
  redis.call('PEXPIRE', IDS[current], text(2 * retention))
end

local function known(record)
  if record.id == '' or record.native ~= '' then
    return false
  end
  local entry = redis.call('HGET', IDS[current], record.id)
  return entry or redis.call('HGET', IDS[3 - current], record.id)
end

-- The first one may raise an error; later ones must not, because some are appended already.
local function append(record, first)
  local from, to = record.from, record.to
  if record.native ~= '' then
    if first then
      return redis.call('XADD', STREAM, 'IDMP', record.native, record.id, '*', unpack(ARGV, from, to))
    end
    return redis.pcall('XADD', STREAM, 'IDMP', record.native, record.id, '*', unpack(ARGV, from, to))
  end
  if first then
    return redis.call('XADD', STREAM, '*', unpack(ARGV, from, to))
  end
  return redis.pcall('XADD', STREAM, '*', unpack(ARGV, from, to))
end

local problem
local appended, before = #entries > 0, #entries
for i = #entries + 1, #records do
  local record = records[i]
  local entry = known(record)
  if entry then
    before = before + 1
  else
    entry = append(record, not appended)
    if type(entry) == 'table' then
      problem = entry.err
      break
    end
    appended = true
    if record.id ~= '' and record.native == '' then
      redis.call('HSET', IDS[current], record.id, entry)
    end
  end
  entries[i] = entry
end
remember()
return problem and {'PARTLY', problem} or {'APPENDED', tostring(before), unpack(entries)}
