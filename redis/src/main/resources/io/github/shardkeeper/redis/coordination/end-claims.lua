-- Ends the time for claims. Repeatable.
--
-- ARGV     1 leader, 2 epoch, 3 when it may end, as the leader was told, who has watched that time by its own clock
-- result   'ENDED', 'OPEN' when it has begun again since, or 'DEPOSED'
-- keeps    no shard is handed out before an owner that has heard of nothing yet stops by its own clock
-- cost     O(1)

if not leads(ARGV[1], ARGV[2]) then
  return 'DEPOSED'
end
writeAtMaxmemory('HDEL', GROUP)
if claimsEnd() ~= 0 then
  if claimsEnd() ~= tonumber(ARGV[3]) then
    finish()
    return 'OPEN'
  end
  setGroup('claims', '0')
end
finish()
return 'ENDED'
