-- Common beginning of the scripts that read and change signals, after cluster.lua.
--
-- KEYS     :cluster     hash  see read-view.lua; `signals` is raised here
--          :signals     hash  name -> number|sent millis|retained until millis|address of the sender|payload; only the
--                       latest of each name
--          :signalAcks  hash  name|session -> number|LISTENS, OK or FAILED|reason of the failure; the last signal that
--                       the session has handled, or the last one that was over when it began to listen, or 0
-- keeps    numbers of signals grow and never repeat; an entry of a session shows all lower numbers as done

-- Bytes, more than may be configured.
local LONGEST_SIGNAL = 2000000

-- Returns the latest signal of a name; nil for none. One that cannot be read, which only others can have written, has
-- nothing but its value as `unreadable`.
local function latestSignal(signals, name)
  local value = redis.call('HGET', signals, name)
  if not value then
    return nil
  end
  if #value > LONGEST_SIGNAL then
    return {unreadable = beginning(value)}
  end
  local number, sent, retained, address, payload = string.match(value, '^(%d+)|(%d+)|(%d+)|([^|]*)|(.*)$')
  if not (wholeNumber(number) and wholeNumber(sent) and wholeNumber(retained)) then
    return {unreadable = beginning(value)}
  end
  return {number = tonumber(number), sent = sent, retained = tonumber(retained), address = address, payload = payload}
end

-- Returns the number of the last signal of all names. 0 if it is missing or unreadable.
local function lastSignal(cluster)
  return wholeNumber(redis.call('HGET', cluster, 'signals')) or 0
end

-- Forgets what sessions have handled that the group does not know any more, and signals whose retention is over and that
-- all who listen have handled. O(entries + names)
local function forgetSignals(signals, acks)
  local lowest = {}
  local entries = redis.call('HGETALL', acks)
  for i = 1, #entries, 2 do
    local name, session = string.match(entries[i], '^([^|]*)|(.*)$')
    if not session or not isMember(session) then
      redis.call('HDEL', acks, entries[i])
    else
      local number = wholeNumber(string.match(entries[i + 1], '^%d+')) or 0
      lowest[name] = math.min(lowest[name] or number, number)
    end
  end
  for _, name in ipairs(redis.call('HKEYS', signals)) do
    local signal = latestSignal(signals, name)
    if not signal.unreadable and signal.retained <= nowMillis and (lowest[name] or signal.number) >= signal.number then
      redis.call('HDEL', signals, name)
    end
  end
end
