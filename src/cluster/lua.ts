/** The scripts that run in Redis, each in one step. */

import { createHash } from 'node:crypto';
import type { LuaScript } from './redis-store.ts';

function lua(text: string): LuaScript {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

/**
 * Finds the owner of a session, and makes this replica the owner if the last one has no lease. Returns the owner and
 * the record. KEYS: record, prefix of leases. ARGV: this replica, or '' to change nothing; then an owner without a lease
 * is ''.
 */
export const CLAIM: LuaScript = lua(`
local owner = redis.call('HGET', KEYS[1], 'o')
if not owner then return {} end
if owner ~= ARGV[1] and redis.call('EXISTS', KEYS[2] .. owner) == 0 then
  owner = ARGV[1]
  if owner ~= '' then redis.call('HSET', KEYS[1], 'o', owner) end
end
return { owner, redis.call('HGET', KEYS[1], 'r') }
`);

/** Gives a session up, if this replica owns it. KEYS: record. ARGV: this replica. */
export const RELEASE: LuaScript = lua(`
if redis.call('HGET', KEYS[1], 'o') == ARGV[1] then redis.call('HSET', KEYS[1], 'o', '') end
return 1
`);

/** Writes a record, unless another replica owns it. KEYS: record. ARGV: this replica, text, lifetime in ms. */
export const SAVE: LuaScript = lua(`
local owner = redis.call('HGET', KEYS[1], 'o')
if owner and owner ~= '' and owner ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'o', ARGV[1], 'r', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
`);

/**
 * Counts a call in all counters, or in none if one is used up. The time is that of Redis, so clocks of replicas do not
 * matter. KEYS: counters. ARGV: for each, period in ms, limit, amount. Returns 0 and the uses, or the place of the
 * counter that refuses longest and the time to wait in ms.
 */
export const RESERVE: LuaScript = lua(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local refusing, longest = 0, -1
for i, key in ipairs(KEYS) do
  local period, limit = tonumber(ARGV[i * 3 - 2]), tonumber(ARGV[i * 3 - 1])
  local window = math.floor(now / period)
  local used = tonumber(redis.call('GET', key .. ':' .. window) or '0')
  if used >= limit and (window + 1) * period - now > longest then
    refusing, longest = i, (window + 1) * period - now
  end
end
if refusing > 0 then return { refusing, longest } end
for i, key in ipairs(KEYS) do
  local period, amount = tonumber(ARGV[i * 3 - 2]), tonumber(ARGV[i * 3])
  if amount ~= 0 then
    local name = key .. ':' .. math.floor(now / period)
    redis.call('INCRBY', name, amount)
    redis.call('PEXPIRE', name, period * 2)
  end
end
return { 0, 0 }
`);

/** Adds to counters of the current windows. KEYS: counters. ARGV: for each, period in ms, amount. */
export const ADD: LuaScript = lua(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i, key in ipairs(KEYS) do
  local period = tonumber(ARGV[i * 2 - 1])
  local name = key .. ':' .. math.floor(now / period)
  redis.call('INCRBY', name, ARGV[i * 2])
  redis.call('PEXPIRE', name, period * 2)
end
return 1
`);

/** Deletes a lock of this owner. KEYS: lock. ARGV: owner. */
export const UNLOCK: LuaScript = lua(`
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`);

/** Extends a lock of this owner. KEYS: lock. ARGV: owner, lifetime in ms. */
export const EXTEND: LuaScript = lua(`
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0
`);

/** Writes a value, unless the lock was lost. KEYS: value, lock. ARGV: owner of the lock, text. */
export const SET_LOCKED: LuaScript = lua(`
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1
`);

/**
 * Replaces a field of a hash, unless it changed. KEYS: hash. ARGV: field, expected text or '' for none, text, lifetime in
 * ms, most fields.
 */
export const REPLACE_FIELD: LuaScript = lua(`
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[5]) then redis.call('DEL', KEYS[1]) end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
`);
