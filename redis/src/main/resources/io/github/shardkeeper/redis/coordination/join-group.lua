-- Adds a member. Creates a new group, or rebuilds one whose keys do not agree. Repeatable.
--
-- ARGV     1 member, 2 lease (millis), 3 timeout (millis), 4 description (JSON), 5 longest lease of the group that the
--          member knows (millis), 0 for none, 6 '1' if no other process may run under its instance id, 7 '1' if a
--          group without keys counts as new
-- result   {'OK', what was wrong with the group's keys, a sentence each}; {'TRUSTED'} if the group had no keys and was
--          taken for a new one; {'INUSE', another member of its instance, whose process runs}; or {'FORMAT', the group's
--          format, the format of this script}
-- keeps    a group is read and written in one format only; a new group, perhaps after Redis was emptied, assigns
--          nothing for the longest lease, in which members claim what they hold, and a member that joins meanwhile and
--          knows a longer lease extends that period; tokens, histories and epochs keep rising. Not so where ARGV 7 says
--          that it is new: a member that has known the group before says nothing of the kind, whatever its settings
-- cost     O(members)

local id, lease, timeout, description, longest = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local alone = ARGV[6] == '1'
local trusted = ARGV[7] == '1' and state == 'NONE' and longest == 0

if state == 'OTHER' then
  return {'FORMAT', group.format, FORMAT}
end

-- Returns whether a process runs as a member: its lease has not ended, and it is subscribed. A proxy may hide that.
local function runs(other, record)
  return tonumber(redis.call('ZSCORE', SESSIONS, other) or '0') > nowMillis
    and (string.find(record, '"hidden":true', 1, true) or redis.call('PUBSUB', 'NUMSUB', channel(other))[2] > 0)
end

if alone and state == 'WHOLE' then
  local records = redis.call('HGETALL', MEMBERS)
  for i = 1, #records, 2 do
    if records[i] ~= id and instanceOf(records[i]) == instanceOf(id) and runs(records[i], records[i + 1]) then
      return {'INUSE', records[i]}
    end
  end
end
writeAtMaxmemory('HDEL', GROUP)

local function begin()
  redis.call('UNLINK', unpack(KEYS))
  local before = group
  group = {}
  for _, field in ipairs({'token', 'history', 'epoch', 'longestLease', 'directives'}) do
    if isNumber(before[field] or '') then
      setGroup(field, before[field])
    end
  end
  setGroup('format', FORMAT)
  setGroup('history', text(math.max(groupNumber('history') + 1, nowMicros)))
  setGroup('generation', '0')
  setGroup('membership', '0')
  redis.call('ZADD', SESSIONS, -1, NO_ENTRY)
  redis.call('HSET', CONCERNS_AT, NO_ENTRY, '')
  redis.call('HSET', TOLD, NO_ENTRY, '')
  redis.call('HSET', LOADS, NO_ENTRY, '')
  redis.call('ZADD', REPORTED, 0, NO_ENTRY)
  if not trusted then
    openClaims(math.max(tonumber(lease), longest))
  end
end

if state ~= 'WHOLE' then
  begin()
elseif claimsUntil() > 0 and longest > groupNumber('longestLease') then
  openClaims(longest)
end
redis.call('HSET', MEMBERS, id, table.concat({'A', lease, timeout, description}, '|'))
redis.call('ZADD', SESSIONS, text(nowMillis + tonumber(lease)), id)
resized = true
forgetAway(id)
if claimsUntil() > 0 then
  rememberLease(tonumber(lease))
else
  -- The member with a longer one may have left.
  longest = 0
  for _, value in ipairs(redis.call('HVALS', MEMBERS)) do
    longest = math.max(longest, tonumber(string.match(value, '^%a|(%d+)|') or '0'))
  end
  setGroup('longestLease', text(longest))
end
membershipChanged()
finish()
if trusted then
  return {'TRUSTED'}
end
return {'OK', unpack(faults)}
