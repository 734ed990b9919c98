-- Announces that a member leaves, or ends its session. Repeatable.
--
-- ARGV     1 member, 2 ANNOUNCE (it keeps what it owns and gets nothing new), RESTART (the same, and what it releases is
--          kept for its instance) or END (it consumes nothing any more), 3 quiet period (millis), 4 most shards to free
--          at once; the leader's next reap frees the rest, 5 time for which the shards of its instance are kept (millis),
--          0 if it does not restart
-- result   'OK', also for an unknown member
-- keeps    a leader resigns only when its session ends; an instance is away only if its member has announced that
-- cost     ANNOUNCE and RESTART O(1), END O(shards freed * log shards)

writeBeforeWait(GROUP)

local id, step, quietMillis, limit = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local awayMillis = tonumber(ARGV[5])
local self = state == 'WHOLE' and member(id)
if not self then
  return 'OK'
end
if step ~= 'END' then
  local flag = step == 'RESTART' and 'R' or 'L'
  redis.call('HSET', MEMBERS, id, table.concat({flag, text(self.lease), text(self.timeout), self.description}, '|'))
else
  forgetAway(id)
  if awayMillis > 0 and self.flag == 'R' then
    goAway(id, awayMillis)
  end
  if leader() == id then
    setGroup('leader', '')
    notifySuccessor(id)
  end
  remove(id, limit, quietMillis)
end
membershipChanged()
finish()
return 'OK'
