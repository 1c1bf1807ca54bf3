import type { ToolPolicy } from '#shared/rpc/tool-policies.ts';
import { matchesWildcard } from '#shared/wildcard.ts';
import { isHeldReply } from '../approvals/held-reply.ts';
import { MORE_SOURCES } from '../trust/content-sources.ts';
import type { Settings } from '../../config/settings-schema.ts';
import { type Tool } from './tool-registry.ts';

/**
 * Policy of a tool by `tools.policies`: an exact name first, else the longest matching pattern, and of two equally long ones the stricter.
 * By default, a tool with an effect requires approval.
 */
export function getToolPolicy({ policies = {} }: Settings['tools'], { name, effect }: Pick<Tool, 'name' | 'effect'>): ToolPolicy {
  if (Object.hasOwn(policies, name)) return policies[name] ?? 'deny';
  const matching = Object.entries(policies).filter(([pattern]) => matchesWildcard(pattern, name));
  const longest = Math.max(...matching.map(([pattern]) => pattern.length));
  const matches = matching.flatMap(([pattern, policy]) => (pattern.length === longest ? [policy] : []));
  return STRICTEST_FIRST.find((policy) => matches.includes(policy)) ?? (effect ? 'ask' : 'auto');
}

const STRICTEST_FIRST = ['deny', 'ask', 'auto'] as const;

/** True if `tools.afterReading` lets a tool run, or a reply go out, after reading from all of these sources. Only patterns for replies cover replies. */
export function isGranted({ afterReading = {} }: Settings['tools'], tool: string, sources: readonly string[]): boolean {
  const allowed = Object.entries(afterReading).flatMap(([pattern, list]) =>
    matchesWildcard(pattern, tool) && isHeldReply(pattern) === isHeldReply(tool) ? list : [],
  );
  return sources.every((source) => allowed.some((pattern) => pattern !== MORE_SOURCES && matchesWildcard(pattern, source)));
}
