import { getConfigFileState } from '../../config/config-file/config-file-state.ts';
import { toClause } from '#shared/clause.ts';
import { type HealthCheck, type DoctorDeps, reportOk, reportProblem } from './doctor-deps.ts';
import { z } from '#shared/rpc/zod.ts';
import { matchesWildcard } from '#shared/wildcard.ts';
import { isObject } from '#shared/merge-patch.ts';
import { type Settings, settingsSchema as schema } from '../../config/settings-schema.ts';

/**
 * Dotted paths of settings that no part of this build reads: typos, or settings of another build. Channels are skipped, since each platform
 * has its own settings.
 */
const findUnknownSettings = (settings: Settings): string[] => findUnknown(settings, schema, []);

/** Finds invalid and unusual settings. */
export const settingsChecks = ({ config, configFile, references, tools }: DoctorDeps): HealthCheck[] => [
  {
    id: 'secrets',
    title: 'API keys',
    run() {
      const { lost } = config.faults;
      if (lost.length === 0) return reportOk('All API keys can be read.');
      return reportProblem('error', `These API keys can’t be read in this browser: ${lost.join(', ')}.`, 'Enter them again in Models.');
    },
  },
  {
    id: 'references',
    title: 'Key references',
    run() {
      const { names, isPending, file, problem } = references.unresolved;
      if (names.length === 0 && !problem) return reportOk('All keys referenced in the configuration are available.');
      const refusal = problem ? `${file ?? ''} can’t be used: ${toClause(problem)}. ` : '';
      if (names.length === 0) return reportProblem('warning', refusal.trim(), 'Fix the file, then call `secrets.reload`.');
      if (isPending)
        return reportProblem(
          'error',
          `These keys are on your computer, where Perch isn’t running: ${names.join(', ')}.`,
          'Start it with `perch gateway run`.',
        );
      return reportProblem(
        'error',
        `${refusal}Keys not found: ${names.join(', ')}.`,
        `Add each to ${file ?? 'secrets.env'} as NAME=value or set it in Perch’s environment, then call \`secrets.reload\`.`,
      );
    },
  },
  {
    id: 'settings',
    title: 'Settings',
    run() {
      const { misfits: invalidSettings } = config.faults;
      if (invalidSettings.length === 0) return reportOk('All settings are valid.');
      const message = `Invalid settings, which are ignored: ${invalidSettings.join(', ')}.`;
      // The name of a whole section has no dot.
      const severity = invalidSettings.every((path) => path.includes('.')) ? 'warning' : 'error';
      return reportProblem(
        severity,
        message,
        'Reload the app to get the newest version, or set each of them again with `config.set` (null resets it).',
      );
    },
  },
  {
    id: 'config-file',
    title: 'Configuration file',
    run() {
      const { state, path, problem } = getConfigFileState(configFile);
      if (state === 'off') return null;
      if (state === 'synced') return reportOk(`${path ?? 'The file'} is in sync.`);
      const { message = 'unknown error', line, column } = problem ?? {};
      const position = line === undefined ? '' : ` (line ${line}${column === undefined ? '' : `, column ${column}`})`;
      return reportProblem(
        'error',
        `${path ?? 'The configuration file'} can’t be used: ${toClause(message)}${position}. The last valid configuration stays in use.`,
        state === 'failed' ? 'Make sure you can read and write the file.' : 'Fix the file. Perch reads it again as soon as you save it.',
      );
    },
  },
  {
    id: 'names',
    title: 'Unknown settings',
    async run() {
      await tools.loadAll();
      const unknownKeys = findUnknownSettings(config.settings);
      const unknownToolNames = findUnknownTools(
        config.settings,
        tools.list().map(({ name }) => name),
      );
      if (unknownKeys.length + unknownToolNames.length === 0) return reportOk('All settings and tool names are known.');
      const messages = [
        ...(unknownKeys.length > 0 ? [`Unknown settings: ${unknownKeys.join(', ')}.`] : []),
        ...(unknownToolNames.length > 0 ? [`Unknown tools: ${unknownToolNames.join(', ')}.`] : []),
      ];
      return reportProblem(
        'info',
        messages.join(' '),
        'Check the spelling. Remove a setting with `config.set` and null; list the tools with `tools.list`.',
      );
    },
  },
  {
    id: 'rate-limit',
    title: 'Rate limit',
    run() {
      if (config.settings.gateway.rateLimit?.perMinute !== 0) return reportOk('The rate limit is on.');
      return reportProblem(
        'warning',
        'The rate limit is off. One program can overload the gateway.',
        'Set it with `config.set` and the key `gateway.rateLimit`.',
      );
    },
  },
];

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
function findUnknownTools({ agents, channels, tools }: Settings, names: readonly string[]): string[] {
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
