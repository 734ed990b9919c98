-- Common beginning of every data-plane script; DataScripts puts it before each of them.
--
-- KEYS     the keys of one shard:
--          1 checkpoint: hash of fence; commit; acquired (millis when the fence was raised); offset; ahead; committed
--            (millis); completed; seek (what is pending: number, 1 or 0 for whether to remove the state, offset, with
--            spaces between them); sought (number of the last seek that was carried out); before (what was before the
--            fence was raised: the fence that it belongs to, the one before, number of the last commit under that one,
--            with spaces between them); sizes (numbers of entries in state, retry queue, outbox and timers that the
--            scripts have left there, with spaces between them); elsewhere (1 if the shard's checkpoint is in the application's
--            database, and what is here was before); copy (the offset there, for trimming); copied (token and number of
--            the commit that the copy is of, with a space between them); reads (1 if the owner has no entries of the state
--            in memory but those that it has used)
--          2 state: hash
--          3 retry queue: sorted set, offset -> millis when it is due
--          4 its records: hash, offset -> about .. newline .. payload
--          5 dead letters: stream with the fields offset, about, payload
--          6 sequences: hash of what it has sent: era; last (place of the last record in the outbox); topic/id of a target
--            -> number of the last record for it
--          7 outbox: stream of records that it has sent, with a place as the id and the fields to, about, payload
--          8 timers: sorted set, bytes of the key .. ':' .. key .. name -> millis when it is due
--          `about` is JSON on one line, in a format that only instances know but for its beginning, {"attempts":<n>
--          (n = 0: never tried, whatever else it says)

local CHECKPOINT, STATE, RETRY, RETRIED, DEAD, SEQUENCES, OUTBOX, TIMERS = unpack(KEYS)

-- Checked before anything is written. Redis' own error does not name the key.
for i, key in ipairs(KEYS) do
  local expected = ({'hash', 'hash', 'zset', 'hash', 'stream', 'hash', 'stream', 'zset'})[i]
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

-- Returns the millis until the retry queue's record at an index (from 0, by due time) is due, '' if there is none.
local function dueIn(place)
  local entry = redis.call('ZRANGE', RETRY, place, place, 'WITHSCORES')
  return entry[2] and text(math.max(0, tonumber(entry[2]) - nowMillis)) or ''
end

-- Returns the number of a pending seek, 0 if there is none.
local function seekNumber(seek)
  return seek and tonumber(string.match(seek, '^%d+')) or 0
end

-- Returns whether a seek, as it is stored, removes the state.
local function clearsState(seek)
  return string.match(seek, '^%d+ 1 ') ~= nil
end

-- Raises the fence to a token. Commits are numbered from 1 under every token.
local function raiseFence(token, fence)
  local last = redis.call('HGET', CHECKPOINT, 'commit') or '0'
  redis.call('HSET', CHECKPOINT, 'fence', token, 'commit', 0, 'acquired', text(nowMillis), 'before',
    token .. ' ' .. text(fence) .. ' ' .. last)
  redis.call('HDEL', CHECKPOINT, 'completed')
end

-- Returns the next page of the state, unordered: the next cursor, '0' after the last page, and {key, value, ...}.
-- A small state is one page.
local function statePage(cursor)
  return redis.call('HSCAN', STATE, cursor, 'COUNT', 500)
end

-- Bytes. What is longer is from others; `ahead` has as many offsets as a window.
local LONGEST_FIELD, LONGEST_AHEAD = 16384, 4000000

-- Fails if a field of the checkpoint is longer than anything that is written there.
local function checkLengths()
  for _, field in ipairs({'fence', 'commit', 'offset', 'ahead', 'seek', 'sought', 'before', 'acquired', 'sizes'}) do
    local length = redis.call('HSTRLEN', CHECKPOINT, field)
    if length > (field == 'ahead' and LONGEST_AHEAD or LONGEST_FIELD) then
      return redis.error_reply('ERR the field ' .. field .. ' of the key ' .. CHECKPOINT .. ' has ' .. length ..
        ' bytes, far more than belong there; restore it, or remove it with HDEL')
    end
  end
end

-- Returns fence, commit, offset, ahead, millis until the first retry is due, number of the state's entries, cursor, the
-- first page, seek, sought, before. Without the state the page is empty and the last one.
local function readCheckpoint(withState)
  local fields = redis.call('HMGET', CHECKPOINT, 'fence', 'commit', 'offset', 'ahead', 'seek', 'sought', 'before')
  local page = withState and statePage('0') or {'0', {}}
  return {fields[1] or '0', fields[2] or '0', fields[3] or '', fields[4] or '', dueIn(0),
    text(redis.call('HLEN', STATE)), page[1], page[2], fields[5] or '', fields[6] or '', fields[7] or ''}
end

-- The next functions find keys of the shard that were removed, or evicted, one without the other. Not among them are the
-- dead letters, on which nothing depends, and the sequences, whose numbers begin again in a later era.

-- Returns the numbers of entries of state, retry queue, outbox and timers. A record of the retry queue is in two keys.
local function countEntries()
  local due = redis.call('ZCARD', RETRY)
  local records = redis.call('HLEN', RETRIED)
  local state = redis.call('HLEN', STATE)
  local sent = redis.call('XLEN', OUTBOX)
  local timers = redis.call('ZCARD', TIMERS)
  return {state = state, retry = math.min(due, records), outbox = sent, timers = timers}
end

-- Returns the numbers that the scripts have left, from the field `sizes`; without it, those that are there.
local function recordedSizes(sizes, there)
  if not sizes then
    return there
  end
  local state, retry, outbox, timers = string.match(sizes, '^(%d+) (%d+) (%d+) (%d+)$')
  return {state = tonumber(state), retry = tonumber(retry), outbox = tonumber(outbox), timers = tonumber(timers)}
end

-- Returns the numbers to record after changes. What was missing before stays recorded, for those who would read it.
local function sizesAfter(recorded, before)
  local now = countEntries()
  return string.format('%.0f %.0f %.0f %.0f', recorded.state + now.state - before.state,
    recorded.retry + now.retry - before.retry, recorded.outbox + now.outbox - before.outbox,
    recorded.timers + now.timers - before.timers)
end

-- Records them for a script that is not a commit. A checkpoint that is missing stays so.
local function recordSizes(recorded, before)
  if redis.call('HEXISTS', CHECKPOINT, 'fence') == 1 then
    redis.call('HSET', CHECKPOINT, 'sizes', sizesAfter(recorded, before))
  end
end

-- Returns an error if entries of the 'state', the 'retry' queue, the 'outbox' or the 'timers' are missing, otherwise nil.
local function missingEntries(part)
  local there = countEntries()
  local recorded = recordedSizes(redis.call('HGET', CHECKPOINT, 'sizes'), there)
  if there[part] < recorded[part] then
    local keys = ({state = STATE, retry = RETRY .. ' with ' .. RETRIED, outbox = OUTBOX, timers = TIMERS})[part]
    return redis.error_reply('ERR entries are missing: ' .. keys .. ' has ' .. there[part] .. ' of the ' ..
      recorded[part] .. ' that were left there, because Redis has evicted them or somebody has removed them, so the ' ..
      'shard is not consumed; restore the key, or accept the loss with HDEL ' .. CHECKPOINT .. ' sizes')
  end
end

-- Returns whether the state is the one that an owner's commits have made: the fence is at its token, and Redis has lost
-- neither the acquisition that they are based on, nor the last answered one, nor entries of the state.
local function isStateOf(token, answered, acquisition)
  local checkpoint = redis.call('HMGET', CHECKPOINT, 'fence', 'commit', 'acquired')
  return checkpoint[1] == token and tonumber(checkpoint[2] or '0') >= tonumber(answered) and
    (acquisition == '0' or acquisition == checkpoint[3]) and not missingEntries('state')
end
