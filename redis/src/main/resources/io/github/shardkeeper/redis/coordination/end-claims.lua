-- Ends the claim period. Repeatable.
--
-- ARGV     1 leader, 2 epoch, 3 end of the claim period (millis), as the leader was told; it has watched that time by
--          its own clock
-- result   'ENDED', 'OPEN' if the period was opened again since, or 'DEPOSED'
-- keeps    no shard is assigned before an owner without any news stops by its own clock
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
