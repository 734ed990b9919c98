-- Common beginning of every data-plane script; put before each of them when it is loaded.
--
-- KEYS     1 checkpoint hash (fence, commit, offset, ahead, committed), 2 state hash, 3 retry queue: sorted set,
--          offset -> millis when it is due, 4 its records: hash, offset -> about .. newline .. payload, 5 dead letters:
--          stream with the fields offset, about, payload
--          `about` is JSON on one line, in a format that only instances know but for its beginning, {"attempts":<n>

local CHECKPOINT, STATE, RETRY, RETRIED, DEAD = unpack(KEYS)

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

