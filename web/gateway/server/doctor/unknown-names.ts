import { z } from '#shared/rpc/zod.ts';
import { matchesWildcard } from '#shared/wildcard.ts';
import { isObject } from '#shared/merge-patch.ts';
import { type Settings, settingsSchema as schema } from '../../config/settings-schema.ts';

/**
 * Dotted paths of settings that no part of this build reads: typos, or settings of another build. Channels are skipped, since each platform
 * has its own settings.
 */
export const findUnknownSettings = (settings: Settings): string[] => findUnknown(settings, schema, []);

function findUnknown(value: unknown, fieldSchema: unknown, path: readonly string[]): string[] {
  const part = unwrapSchema(fieldSchema);
  if (!isObject(value) || !(part instanceof z.ZodObject)) return [];
  const shape: Record<string, unknown> = part.shape;
  return Object.entries(value).flatMap(([name, inner]) => {
    const memberPath = [...path, name];
    if (Object.hasOwn(shape, name)) return name === 'channels' && path.length === 0 ? [] : findUnknown(inner, shape[name], memberPath);
    return [memberPath.join('.')];
  });
}

/** The inner schema of optional and defaulted schemas. */
function unwrapSchema(part: unknown): unknown {
  return part instanceof z.ZodOptional || part instanceof z.ZodDefault || part instanceof z.ZodPrefault
    ? unwrapSchema(part.unwrap())
    : part;
}

/** Names and patterns that match none of these tools, each with its setting. */
export function findUnknownTools({ agents, channels, tools }: Settings, names: readonly string[]): string[] {
  const toolLists: [string, readonly string[]][] = [
    ...Object.entries(agents).flatMap(([id, { tools: own }]): [string, readonly string[]][] => [
      [`agents.${id}.tools.allow`, own?.allow ?? []],
      [`agents.${id}.tools.deny`, own?.deny ?? []],
    ]),
    ...Object.entries(channels).map(([id, { tools: own }]): [string, readonly string[]] => [`channels.${id}.tools`, own ?? []]),
    ['tools.policies', Object.keys(tools.policies ?? {})],
  ];
  return toolLists.flatMap(([setting, patterns]) =>
    patterns.filter((pattern) => !names.some((name) => matchesWildcard(pattern, name))).map((pattern) => `${pattern} (${setting})`),
  );
}
