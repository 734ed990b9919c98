-- Common beginning of every data-plane script; put before each of them when it is loaded.
--
-- KEYS     1 checkpoint hash (fence, commit, acquired: millis when the fence was raised, offset, ahead, committed, completed; seek, what is pending: number, 1 or
--          0 for whether the state is to be removed, offset, with spaces between them; sought, number of the one that
--          was carried out last; before, what was before the fence was raised: the fence that it belongs to, the one
--          before, number of the last commit under that, with spaces between them), 2 state hash, 3 retry queue: sorted set, offset -> millis when it is due, 4 its records: hash, offset -> about .. newline .. payload, 5 dead
--          letters: stream with the fields offset, about, payload
--          `about` is JSON on one line, in a format that only instances know but for its beginning, {"attempts":<n>
--          (n = 0: never tried, whatever else it says)

local CHECKPOINT, STATE, RETRY, RETRIED, DEAD = unpack(KEYS)

-- Before anything is written. Redis' own error would not name the key.
for i, key in ipairs(KEYS) do
  local expected = ({'hash', 'hash', 'zset', 'hash', 'stream'})[i]
  local found = redis.call('TYPE', key).ok
  if found ~= expected and found ~= 'none' then
    return redis.error_reply('ERR the key ' .. key .. ' holds a ' .. found .. ', not the ' .. expected ..
      ' that belongs there, so nothing was written; move it away with RENAME or remove it with DEL')
  end
end

local time = redis.call('TIME')
local nowMillis = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

-- Numbers up to 2^53 as text; Lua's own conversion would write them as 1.7e+15.
local function text(number)
  return string.format('%.0f', number)
end

-- Millis until the retry queue's record at a place (from 0, in the order of time) is due, '' if there is none.
local function dueIn(place)
  local entry = redis.call('ZRANGE', RETRY, place, place, 'WITHSCORES')
  return entry[2] and text(math.max(0, tonumber(entry[2]) - nowMillis)) or ''
end

-- The number of a pending seek, 0 if there is none.
local function seekNumber(seek)
  return seek and tonumber(string.match(seek, '^%d+')) or 0
end

-- The next page of the state, in no order: the cursor to go on with, '0' after the last page, and {key, value, ...}.
-- Few entries are one page, whatever the size says.
local function statePage(cursor)
  return redis.call('HSCAN', STATE, cursor, 'COUNT', 500)
end

-- What a reader begins with: fence, commit, offset, ahead, millis until the first retry is due, entries of the state,
-- cursor, the first page; what is pending and was carried out of seeks; and what was before the fence.
local function readCheckpoint()
  local fields = redis.call('HMGET', CHECKPOINT, 'fence', 'commit', 'offset', 'ahead', 'seek', 'sought', 'before')
  local page = statePage('0')
  return {fields[1] or '0', fields[2] or '0', fields[3] or '', fields[4] or '', dueIn(0),
    text(redis.call('HLEN', STATE)), page[1], page[2], fields[5] or '', fields[6] or '', fields[7] or ''}
end

