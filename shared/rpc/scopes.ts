/** Levels of access. `admin` includes `write`, which includes `read`. */
export const LEVELS = ['read', 'write', 'admin'] as const;
export type Level = (typeof LEVELS)[number];

/** Areas that an API key can be given one by one. `write` includes them all; they do not include each other. */
export const AREAS = [
  'v1',
  'mcp',
  'chat',
  'sessions',
  'memory',
  'files',
  'collections',
  'instructions',
  'web',
  'browser',
  'computer',
  'automation',
  'servers',
  'status',
] as const;
export type Area = (typeof AREAS)[number];

export const SCOPES = [...LEVELS, ...AREAS] as const;
export type Scope = (typeof SCOPES)[number];

/** Scopes that an API key can have. A key with `admin` could create keys without limits. */
export const KEY_SCOPES = ['read', 'write', ...AREAS] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

export const isLevel = (scope: string): scope is Level => LEVELS.includes(scope as Level);
const isArea = (scope: string): scope is Area => AREAS.includes(scope as Area);

/** Returns whether a principal with these scopes has what `required` allows. Unknown scopes allow nothing. */
export function allowsScope(scopes: readonly string[], required: Scope): boolean {
  if (scopes.includes(required)) return true;
  const rank = Math.max(-1, ...scopes.map((scope) => LEVELS.indexOf(scope as Level)));
  return rank >= LEVELS.indexOf(isLevel(required) ? required : 'write');
}

/**
 * Scopes as they are stored and sent between builds: `scopes` has the levels and `areas` the rest. Builds before 2026-12 know levels only: they ignore `areas` and deny,
 * whereas an unknown value in `scopes` would make them refuse the whole message.
 */
export interface SplitScopes {
  scopes: Level[];
  areas?: Area[];
}

export function splitScopes(scopes: readonly Scope[]): SplitScopes {
  const areas = [...new Set(scopes.filter(isArea))];
  return { scopes: [...new Set(scopes.filter(isLevel))], ...(areas.length > 0 ? { areas } : {}) };
}

export const joinScopes = ({ scopes, areas = [] }: { scopes: readonly Level[]; areas?: readonly string[] | undefined }): Scope[] => [
  ...scopes,
  ...areas.filter(isArea),
];
