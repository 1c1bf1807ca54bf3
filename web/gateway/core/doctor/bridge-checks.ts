import { speechPort } from '#shared/ports/speech.ts';
import { systemPort } from '#shared/ports/system.ts';
import { desktopPort } from '#shared/ports/desktop.ts';
import { type Check, type DoctorDeps, fine, wrong } from './deps.ts';

/** Tokens and certificates begin to fail somewhere above. */
const SKEW_MS = 5_000;
const BAD_SKEW_MS = 5 * 60_000;

/** The bridge's machine, as the bridge says. */
export function bridgeChecks({ bridge, clock, build, environment }: DoctorDeps): Check[] {
  if (!bridge.lends(systemPort)) {
    const message = 'No bridge is attached: commands, the API on localhost and the copy on disk are not there.';
    return [{ id: 'bridge', title: 'The bridge', look: () => wrong('info', message, 'Start it with `npm start`.') }];
  }
  const about = async (signal: AbortSignal) => {
    const [before, started] = [clock.now(), clock.monotonic()];
    const said = await bridge.call(systemPort, 'system.about', {}, { signal });
    // The bridge looked at its clock somewhere in between.
    const took = clock.monotonic() - started;
    return { ...said, skew: Math.max(0, Math.abs(said.now - (before + took / 2)) - took / 2) };
  };
  let asked: ReturnType<typeof about> | undefined;
  const machine = (signal: AbortSignal): ReturnType<typeof about> => (asked ??= about(signal));
  let looked: ReturnType<typeof faults> | undefined;
  const faults = (signal: AbortSignal) => bridge.call(systemPort, 'system.faults', {}, { signal });
  const files = (signal: AbortSignal): ReturnType<typeof faults> => (looked ??= faults(signal));
  return [
    {
      id: 'bridge',
      title: 'The bridge',
      async look(signal) {
        const { version, build: theirs } = await machine(signal);
        if (theirs === build) return fine(`Perch ${version} is attached.`);
        return wrong(
          'warning',
          `The bridge serves build ${theirs}, this worker is of build ${build}.`,
          'Reload the app; where that does not help, start the bridge again with `npm start`.',
        );
      },
    },
    {
      id: 'version',
      title: 'The bridge’s version',
      async look(signal) {
        const { version } = await machine(signal);
        if (version === environment.release) return fine(`Bridge and app are of version ${version}.`);
        return wrong(
          'warning',
          `The bridge is of version ${version}, the app of ${environment.release}.`,
          'Start the bridge again with `npm start`, and reload the app.',
        );
      },
    },
    {
      id: 'clock',
      title: 'The clock',
      async look(signal) {
        const { skew } = await machine(signal);
        if (skew < SKEW_MS) return fine('This browser and the bridge agree on the time.');
        const seconds = Math.round(skew / 1000).toLocaleString('en');
        return wrong(
          skew < BAD_SKEW_MS ? 'warning' : 'error',
          `This browser’s clock and the bridge’s differ by ${seconds} s.`,
          'Have both machines set their clocks by the network.',
        );
      },
    },
    {
      id: 'file-modes',
      title: 'Files are the owner’s alone',
      async look(signal) {
        const { open, modesUnknown } = await files(signal);
        if (modesUnknown !== null) return wrong('info', modesUnknown);
        const [first, ...more] = open;
        if (!first) return fine('The token, the keys and the home directory are the owner’s alone.');
        const names = [first, ...more].map(({ path, mode }) => `${path} (mode ${mode})`).join(', ');
        const commands = [first, ...more].map(({ path, wanted }) => `chmod ${wanted} '${path}'`).join('; ');
        return wrong('error', `Others can read or change ${names}.`, `Run: ${commands}`);
      },
    },
    {
      id: 'vault-key',
      title: 'The key of the vault',
      async look(signal) {
        const { vaultKey } = await files(signal);
        if (vaultKey === null) return null;
        if (vaultKey === 'keyring') return fine('The key that secrets are sealed with is in the system’s keyring.');
        return wrong(
          'info',
          'The key that secrets are sealed with is in a file beside them, which whoever runs programs as you can read.',
          'Where a keyring is unlocked whenever Perch starts: `npm run -s perch -- secrets keyring`, with the word on behind it, moves it there.',
        );
      },
    },
    {
      id: 'sandbox',
      title: 'The managed browser’s sandbox',
      async look(signal) {
        const { unsandboxed, hostMode } = await files(signal);
        if (hostMode === 'tab') return null;
        if (!unsandboxed) return fine('The managed Chromium runs in its sandbox.');
        return wrong(
          'warning',
          'The bridge runs as root, so the managed Chromium runs without its sandbox.',
          'Run `npm start` as another user than root.',
        );
      },
    },
    {
      id: 'chromium',
      title: 'A browser to host the gateway',
      async look(signal) {
        const { browser, noBrowser, hostMode } = await files(signal);
        if (browser !== null) return fine(`${browser} can host the gateway when no tab does.`);
        const hint =
          'Install chromium-headless-shell, Chromium, Chrome or Edge, or name one in PERCH_CHROMIUM. Not needed with `npm start -- --host tab`.';
        return wrong(
          hostMode === 'tab' ? 'info' : 'error',
          noBrowser ?? 'There is no Chromium, Chrome or Edge on the bridge’s machine.',
          hint,
        );
      },
    },
    {
      id: 'desktop',
      title: 'Pictures of the screen',
      async look(signal) {
        if (!bridge.lends(desktopPort)) return null;
        const { problem } = await bridge.call(desktopPort, 'desktop.check', {}, { signal });
        if (problem === null) return fine('Agents can take pictures of the screen, where you let them.');
        return wrong('info', `desktop_screenshot does not work: ${problem}.`, 'Start the bridge in a session with a screen.');
      },
    },
    {
      id: 'python',
      title: 'Python',
      async look(signal) {
        const { python } = await machine(signal);
        return python === null
          ? wrong('info', 'There is no Python on the bridge’s machine: commands that want it fail.', 'Install Python 3.')
          : fine(`Python ${python}.`);
      },
    },
    ...(bridge.lends(speechPort) ? [speechCheck(bridge)] : []),
  ];
}

const speechCheck = (bridge: DoctorDeps['bridge']): Check => ({
  id: 'speech',
  title: 'Speech',
  async look(signal) {
    const { voices } = await bridge.call(speechPort, 'speech.voices', {}, { signal });
    const system = voices.filter(({ id }) => id.startsWith('system:')).length;
    const network = voices.length - system;
    if (network > 0) return fine(`There are ${network} voices of the network${system > 0 ? ` and ${system} of the system` : ''}.`);
    if (system > 0) return fine(`There are ${system} voices of the system; those of the network cannot be reached.`);
    return wrong(
      'info',
      'Nothing on the bridge’s machine can speak, and the voices of the network cannot be reached.',
      'Connect it to the network, or install a speech engine (on Debian: apt-get install espeak-ng).',
    );
  },
});
