import { toClause } from '#shared/clause.ts';
import { type Check, type DoctorDeps, fine, wrong } from './deps.ts';
import { unknownSettings, unknownTools } from './unknown-names.ts';

/** Finds invalid and unusual settings. */
export const settingsChecks = ({ config, file, references, tools }: DoctorDeps): Check[] => [
  {
    id: 'secrets',
    title: 'API keys',
    look() {
      const { lost } = config.faults;
      if (lost.length === 0) return fine('All API keys can be read.');
      return wrong('error', `These API keys can’t be read in this browser: ${lost.join(', ')}.`, 'Enter them again in Models.');
    },
  },
  {
    id: 'references',
    title: 'Key references',
    look() {
      const { names, unasked, file, problem } = references.unresolved;
      if (names.length === 0 && !problem) return fine('All keys referenced in the configuration are available.');
      const refused = problem ? `${file ?? ''} can’t be used: ${toClause(problem)}. ` : '';
      if (names.length === 0) return wrong('warning', refused.trim(), 'Fix the file, then call `secrets.reload`.');
      if (unasked)
        return wrong(
          'error',
          `These keys come from the bridge, which is not running: ${names.join(', ')}.`,
          'Start it with `perch gateway run`.',
        );
      return wrong(
        'error',
        `${refused}Keys not found: ${names.join(', ')}.`,
        `Add each to ${file ?? 'secrets.env'} as NAME=value or set it in the bridge’s environment, then call \`secrets.reload\`.`,
      );
    },
  },
  {
    id: 'settings',
    title: 'Settings',
    look() {
      const { misfits } = config.faults;
      if (misfits.length === 0) return fine('All settings are valid.');
      const message = `Invalid settings, which are ignored: ${misfits.join(', ')}.`;
      // The name of a whole section has no dot.
      const severity = misfits.every((path) => path.includes('.')) ? 'warning' : 'error';
      return wrong(
        severity,
        message,
        'Reload the app to get the newest version, or set each of them again with `config.set` (null resets it).',
      );
    },
  },
  {
    id: 'config-file',
    title: 'Configuration file',
    look() {
      const { state, path, problem } = file.state;
      if (state === 'off') return null;
      if (state === 'synced') return fine(`${path ?? 'The file'} is in sync.`);
      const { message = 'unknown error', line, column } = problem ?? {};
      const place = line === undefined ? '' : ` (line ${line}${column === undefined ? '' : `, column ${column}`})`;
      return wrong(
        'error',
        `${path ?? 'The configuration file'} can’t be used: ${toClause(message)}${place}. The last valid configuration stays in use.`,
        state === 'failed' ? 'Make sure you can read and write the file.' : 'Fix the file. Perch reads it again as soon as you save it.',
      );
    },
  },
  {
    id: 'names',
    title: 'Unknown settings',
    async look() {
      await tools.ready();
      const unread = unknownSettings(config.settings);
      const unfit = unknownTools(
        config.settings,
        tools.list().map(({ name }) => name),
      );
      if (unread.length + unfit.length === 0) return fine('All settings and tool names are known.');
      const said = [
        ...(unread.length > 0 ? [`Unknown settings: ${unread.join(', ')}.`] : []),
        ...(unfit.length > 0 ? [`Unknown tools: ${unfit.join(', ')}.`] : []),
      ];
      return wrong(
        'info',
        said.join(' '),
        'Check the spelling. Remove a setting with `config.set` and null; list the tools with `tools.list`.',
      );
    },
  },
  {
    id: 'rate-limit',
    title: 'Rate limit',
    look() {
      if (config.settings.gateway.rateLimit?.perMinute !== 0) return fine('The rate limit is on.');
      return wrong(
        'warning',
        'The rate limit is off. One program can overload the gateway.',
        'Set it with `config.set` and the key `gateway.rateLimit`.',
      );
    },
  },
];
