import { type Check, type DoctorDeps, fine, wrong } from './deps.ts';
import { unknownSettings, unknownTools } from './unknown-names.ts';

/** What is wrong, or unusual, in the configuration. */
export const settingsChecks = ({ config, file, references, tools }: DoctorDeps): Check[] => [
  {
    id: 'secrets',
    title: 'Keys can be read',
    look() {
      const { lost } = config.faults;
      if (lost.length === 0) return fine('All keys can be read.');
      return wrong('error', `Keys that cannot be read in this browser: ${lost.join(', ')}.`, 'Enter them again in Settings → Providers.');
    },
  },
  {
    id: 'references',
    title: 'Keys that are referred to',
    look() {
      const { names, unasked, file, problem } = references.unresolved;
      if (names.length === 0 && !problem) return fine('All keys that the configuration refers to are found.');
      const refused = problem ? `${file ?? ''} is not used: ${problem}. ` : '';
      if (names.length === 0) return wrong('warning', refused.trim(), 'Mend the file, then call `secrets.reload`.');
      if (unasked)
        return wrong('error', `These keys are kept by the bridge, which is not there: ${names.join(', ')}.`, 'Start it with `npm start`.');
      return wrong(
        'error',
        `${refused}Keys that the bridge does not find: ${names.join(', ')}.`,
        `Put each into ${file ?? 'secrets.env'} as NAME=value, or into the environment that the bridge is started from; then call \`secrets.reload\`.`,
      );
    },
  },
  {
    id: 'settings',
    title: 'The configuration fits',
    look() {
      const { misfits } = config.faults;
      if (misfits.length === 0) return fine('All of the configuration fits.');
      const message = `Settings that do not fit this build, and are left out: ${misfits.join(', ')}.`;
      // A section as a whole has no dot.
      const severity = misfits.every((path) => path.includes('.')) ? 'warning' : 'error';
      return wrong(severity, message, 'Reload the app to get the newest build, or set each anew by `config.set` (null takes it away).');
    },
  },
  {
    id: 'config-file',
    title: 'The configuration file',
    look() {
      const { state, path, problem } = file.state;
      if (state === 'off') return null;
      if (state === 'synced') return fine(`${path ?? 'The file'} and the configuration are the same.`);
      const { message = 'it cannot be used', line, column } = problem ?? {};
      const place = line === undefined ? '' : ` (line ${line}${column === undefined ? '' : `, column ${column}`})`;
      return wrong(
        'error',
        `${path ?? 'The configuration file'} is not used: ${message}${place}. The last good configuration stays in use.`,
        state === 'failed' ? 'See that it can be read and written by you.' : 'Mend it there: it is taken over as soon as it is saved.',
      );
    },
  },
  {
    id: 'names',
    title: 'Names in the configuration',
    async look() {
      await tools.ready();
      const unread = unknownSettings(config.settings);
      const unfit = unknownTools(
        config.settings,
        tools.list().map(({ name }) => name),
      );
      if (unread.length + unfit.length === 0) return fine('All settings are read, and all tools that they name are there.');
      const said = [
        ...(unread.length > 0 ? [`Settings that nothing here reads: ${unread.join(', ')}.`] : []),
        ...(unfit.length > 0 ? [`Names that no tool has: ${unfit.join(', ')}.`] : []),
      ];
      return wrong(
        'info',
        said.join(' '),
        'Look for a slip of the pen. `config.set` with null takes a setting away; `tools.list` has the tools.',
      );
    },
  },
  {
    id: 'rate-limit',
    title: 'The rate limit',
    look() {
      if (config.settings.gateway.rateLimit?.perMinute !== 0) return fine('Sockets are limited in their rate.');
      return wrong(
        'warning',
        'The rate limit is off: one program can keep the gateway busy.',
        'Set it by `config.set` with the key `gateway.rateLimit`.',
      );
    },
  },
];
