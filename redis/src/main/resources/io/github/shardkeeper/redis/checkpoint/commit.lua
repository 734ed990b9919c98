-- Writes a commit of the owner in one step, if the fence equals the owner's token.
--
-- ARGV     1 token, 2 number of the commit under that token, 3 number of the last answered one, 0 for none, 4
--          acquisition that it is based on, 0 for none; without both it writes back all that the owner has, 5 offset or
--          '' to leave it, 6 offsets done ahead of it or '', 7 number of the seek that it carries out or 0, with
--          ' clears' behind it if all entries of the state and all timers are removed before the others change; then the
--          numbers of: 8 state entries to put, 9 state entries to remove, 10 records taken from the retry queue, 11
--          records to retry, 12 dead letters, 13 timers to set, 14 timers to remove; then for each to put key, value; to
--          remove key; taken offset; to retry offset, delay (millis), about, payload; dead letter offset, about, payload;
--          timer to set member, millis when it is due; timer to remove member. If the outbox changes, then follow: '1' to
--          replace all of it or '0', era, place of the last record, the numbers of: targets, records to remove, records to
--          add; then for each target topic/id, number of the last record; to remove place; to add place, topic/id, about,
--          payload
-- result   'COMMITTED'; 'STALE' if a newer token, a later commit, or, if the owner reads the state on use, one that it does
--          not know was there before; or 'GONE' if Redis has lost what the commit is based on: the checkpoint, the
--          acquisition under the token, the answered commit, or entries of the state or the outbox; an error if memory or a
--          right is missing
-- keeps    all of it is written or nothing, also if the user lacks a right; a commit that arrives after its successor
--          writes nothing; one that arrives twice is written once. One that writes all back makes this the checkpoint
--          again if the database had it
-- memory   at `maxmemory` accepted if state, timers, retry queue, dead letters and outbox grow by no more than
--          roomAtMaxmemory(), or do not grow
-- cost     O(changes), for each retry, record taken or timer times log of their sorted set

local checkpoint = redis.call('HMGET', CHECKPOINT, 'fence', 'commit', 'acquired', 'seek', 'sizes', 'elsewhere', 'reads')
local fence, last = tonumber(checkpoint[1] or '0'), tonumber(checkpoint[2] or '0')
local token, number, answered = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
if not checkpoint[1] or fence < token then
  return 'GONE'
end
if fence > token then
  return 'STALE'
end
if ARGV[4] ~= '0' and ARGV[4] ~= checkpoint[3] then
  -- The acquisition is lost, and a late repetition of it has acquired the shard again.
  return 'GONE'
end
if number < last then
  return 'STALE'
end
if number == last then
  -- The client has sent it again after a reconnect.
  return 'COMMITTED'
end
if last < answered then
  return 'GONE'
end
if last > answered and ARGV[4] ~= '0' and checkpoint[7] then
  -- Of an earlier worker under the same token: this one may have read what it has changed before, or after.
  return 'STALE'
end

-- A newer seek stays. It may be pending by now in place of the one that is carried out, and says nothing about that.
local seek, clears = seekNumber(ARGV[7]), string.find(ARGV[7], ' clears', 1, true)
local sought = seek > 0 and checkpoint[4] and seekNumber(checkpoint[4]) <= seek
local before = countEntries()
local recorded = recordedSizes(checkpoint[5], before)
-- Retry queue and timers are not in the owner's memory: what is missing there is found by those who read them.
local whole = ARGV[3] == '0' and ARGV[4] == '0'
local returns = whole and checkpoint[6]
if whole then
  recorded.state, recorded.outbox = before.state, before.outbox
end
if clears then
  recorded.state, recorded.timers = before.state, before.timers
end
if before.state < recorded.state or before.outbox < recorded.outbox then
  return 'GONE'
end

local puts, removes, taken = tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])
local retries, dead = tonumber(ARGV[11]), tonumber(ARGV[12])
local timersSet, timersRemoved = tonumber(ARGV[13]), tonumber(ARGV[14])

local putsEnd = 14 + 2 * puts
local stateEnd = putsEnd + removes
local takenEnd = stateEnd + taken
local retriesEnd = takenEnd + 4 * retries
local deadEnd = retriesEnd + 3 * dead
local timersSetEnd = deadEnd + 2 * timersSet
local timersEnd = timersSetEnd + timersRemoved

local sends = #ARGV > timersEnd
local targetsEnd, sentEnd = timersEnd, timersEnd
if sends then
  targetsEnd = timersEnd + 6 + 2 * tonumber(ARGV[timersEnd + 4])
  sentEnd = targetsEnd + tonumber(ARGV[timersEnd + 5])
end

-- Returns about how many bytes this commit adds. Offset and ahead are bounded and not counted.
local function growth()
  -- About the overhead of an entry of a hash or a stream, and of a large sorted set.
  local entry, timer = 50, 100
  local bytes = 0
  for i = 15, putsEnd, 2 do
    bytes = bytes + #ARGV[i + 1]
    if redis.call('HEXISTS', STATE, ARGV[i]) == 1 then
      bytes = bytes - redis.call('HSTRLEN', STATE, ARGV[i])
    else
      bytes = bytes + entry + #ARGV[i]
    end
  end
  for i = putsEnd + 1, stateEnd do
    bytes = bytes - redis.call('HSTRLEN', STATE, ARGV[i])
  end
  for i = stateEnd + 1, takenEnd do
    bytes = bytes - redis.call('HSTRLEN', RETRIED, ARGV[i])
  end
  for i = takenEnd + 1, retriesEnd, 4 do
    -- Replaces one that is waiting already.
    bytes = bytes + entry + 2 * #ARGV[i] + #ARGV[i + 2] + #ARGV[i + 3] - redis.call('HSTRLEN', RETRIED, ARGV[i])
  end
  for i = retriesEnd + 1, deadEnd do
    bytes = bytes + #ARGV[i]
  end
  for i = deadEnd + 1, timersSetEnd, 2 do
    if not redis.call('ZSCORE', TIMERS, ARGV[i]) then
      bytes = bytes + timer + #ARGV[i]
    end
  end
  for i = timersSetEnd + 1, timersEnd do
    if redis.call('ZSCORE', TIMERS, ARGV[i]) then
      bytes = bytes - #ARGV[i]
    end
  end
  for i = sentEnd + 1, #ARGV do
    bytes = bytes + #ARGV[i]
  end
  return bytes
end

-- Redis undoes nothing when it refuses a command in the middle of a script, and a missing right shows only when the
-- command is called. So each command that follows is first called in a way that changes nothing. At `maxmemory` the
-- first write is refused.
local tried = redis.pcall('HSET', CHECKPOINT, 'fence', checkpoint[1])
if lacksMemory(tried) then
  local bytes = growth()
  if bytes > roomAtMaxmemory() then
    return redis.error_reply('OOM Redis has reached maxmemory, and a commit would add about ' .. text(bytes) ..
      ' bytes to state, timers, retry queue, dead letters or outbox of ' .. CHECKPOINT .. ', more than is let through then, so ' ..
      'nothing was written; raise maxmemory, or free memory by trimming topics or dropping dead letters')
  end
  writeAtMaxmemory('HDEL', CHECKPOINT)
end
if type(tried) == 'table' then
  -- Any other error is raised here.
  redis.call('HSET', CHECKPOINT, 'fence', checkpoint[1])
end
if removes > 0 or taken > 0 or sought or returns then
  redis.call('HDEL', CHECKPOINT, '')
end
if clears then
  -- A key that nobody writes.
  redis.call('UNLINK', STATE .. ':')
end
if taken > 0 then
  redis.call('ZREM', RETRY, '')
end
if retries > 0 then
  redis.call('ZADD', RETRY, 'XX', 0, '')
end
if timersSet > 0 then
  redis.call('ZADD', TIMERS, 'XX', 0, '')
end
if timersRemoved > 0 then
  redis.call('ZREM', TIMERS, '')
end
local replaces = sends and ARGV[timersEnd + 1] == '1'
if replaces then
  redis.call('XTRIM', OUTBOX, 'MINID', '0-0')
end
if sentEnd > targetsEnd then
  redis.call('XDEL', OUTBOX, '0-0')
end

-- The places ascend: if the outbox has higher ones, the first is refused, and nothing was written.
for i = sentEnd + 1, #ARGV, 4 do
  redis.call('XADD', OUTBOX, ARGV[i], 'to', ARGV[i + 1], 'about', ARGV[i + 2], 'payload', ARGV[i + 3])
end
-- XADD has no form without effect, so letters come first: a refusal meets the first one.
for i = retriesEnd + 1, deadEnd, 3 do
  redis.call('XADD', DEAD, '*', 'offset', ARGV[i], 'about', ARGV[i + 1], 'payload', ARGV[i + 2])
end
if clears then
  redis.call('UNLINK', STATE, TIMERS)
end
for i = 15, putsEnd, 2 do
  redis.call('HSET', STATE, ARGV[i], ARGV[i + 1])
end
for i = putsEnd + 1, stateEnd do
  redis.call('HDEL', STATE, ARGV[i])
end
for i = stateEnd + 1, takenEnd do
  redis.call('ZREM', RETRY, ARGV[i])
  redis.call('HDEL', RETRIED, ARGV[i])
end
-- After the removals: a taken record may return with another delay.
for i = takenEnd + 1, retriesEnd, 4 do
  redis.call('ZADD', RETRY, text(nowMillis + tonumber(ARGV[i + 1])), ARGV[i])
  redis.call('HSET', RETRIED, ARGV[i], ARGV[i + 2] .. '\n' .. ARGV[i + 3])
end
for i = deadEnd + 1, timersSetEnd, 2 do
  redis.call('ZADD', TIMERS, ARGV[i + 1], ARGV[i])
end
for i = timersSetEnd + 1, timersEnd do
  redis.call('ZREM', TIMERS, ARGV[i])
end
if sought then
  redis.call('HDEL', CHECKPOINT, 'seek')
end
if returns then
  redis.call('HDEL', CHECKPOINT, 'elsewhere', 'copy', 'copied')
end
if sends then
  redis.call('HSET', SEQUENCES, 'era', ARGV[timersEnd + 2], 'last', ARGV[timersEnd + 3])
end
for i = timersEnd + 7, targetsEnd, 2 do
  redis.call('HSET', SEQUENCES, ARGV[i], ARGV[i + 1])
end
for i = targetsEnd + 1, sentEnd do
  redis.call('XDEL', OUTBOX, ARGV[i])
end
if replaces and sentEnd < #ARGV then
  redis.call('XTRIM', OUTBOX, 'MINID', ARGV[sentEnd + 1])
elseif replaces then
  redis.call('XTRIM', OUTBOX, 'MAXLEN', 0)
end
-- The number is written last, with the offset: it shows that the commit was written completely.
local fields = {'commit', ARGV[2], 'committed', text(nowMillis), 'ahead', ARGV[6],
  'sizes', sizesAfter(recorded, before)}
if ARGV[5] ~= '' then
  fields[#fields + 1], fields[#fields + 2] = 'offset', ARGV[5]
end
if seek > 0 then
  fields[#fields + 1], fields[#fields + 2] = 'sought', text(seek)
end
redis.call('HSET', CHECKPOINT, unpack(fields))
return 'COMMITTED'
