import { toClause } from '#shared/clause.ts';
import { speechPort } from '#shared/ports/speech.ts';
import { systemPort } from '#shared/ports/system.ts';
import { desktopPort } from '#shared/ports/desktop.ts';
import { type Check, type DoctorDeps, fine, wrong } from './deps.ts';

/** Clock skew above which tokens and certificates start to fail. */
const SKEW_MS = 5_000;
const BAD_SKEW_MS = 5 * 60_000;

/** Checks of the bridge's machine, as reported by the bridge. */
export function bridgeChecks({ bridge, clock, build, environment }: DoctorDeps): Check[] {
  if (!bridge.lends(systemPort)) {
    const message = 'The bridge is not running. Commands, the local API and saving to disk are unavailable.';
    return [{ id: 'bridge', title: 'Bridge', look: () => wrong('info', message, 'Start it with `perch gateway run`.') }];
  }
  const about = async (signal: AbortSignal) => {
    const [before, started] = [clock.now(), clock.monotonic()];
    const said = await bridge.call(systemPort, 'system.about', {}, { signal });
    // The bridge read its clock at some time in between.
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
      title: 'Bridge',
      async look(signal) {
        const { version, build: theirs } = await machine(signal);
        if (theirs === build) return fine(`Connected to Perch ${version}.`);
        return wrong(
          'warning',
          `The bridge serves build ${theirs}, but this app runs build ${build}.`,
          'Reload the app. If that doesn’t help, restart the bridge with `perch gateway run`.',
        );
      },
    },
    {
      id: 'version',
      title: 'Bridge version',
      async look(signal) {
        const { version } = await machine(signal);
        if (version === environment.release) return fine(`Bridge and app run version ${version}.`);
        return wrong(
          'warning',
          `The bridge runs version ${version}, but the app runs ${environment.release}.`,
          'Restart the bridge with `perch gateway run`, then reload the app.',
        );
      },
    },
    {
      id: 'clock',
      title: 'Clock',
      async look(signal) {
        const { skew } = await machine(signal);
        if (skew < SKEW_MS) return fine('The clocks of this browser and the bridge match.');
        const seconds = Math.round(skew / 1000).toLocaleString('en');
        return wrong(
          skew < BAD_SKEW_MS ? 'warning' : 'error',
          `The clocks of this browser and the bridge differ by ${seconds} s.`,
          'Turn on automatic time on both computers.',
        );
      },
    },
    {
      id: 'file-modes',
      title: 'File permissions',
      async look(signal) {
        const { open, modesUnknown } = await files(signal);
        if (modesUnknown !== null) return wrong('info', modesUnknown);
        const [first, ...more] = open;
        if (!first) return fine('Only you can access the token, the keys and the home directory.');
        const names = [first, ...more].map(({ path, mode }) => `${path} (mode ${mode})`).join(', ');
        const commands = [first, ...more].map(({ path, wanted }) => `chmod ${wanted} '${path}'`).join('; ');
        return wrong('error', `Other users can read or change ${names}.`, `Run: ${commands}`);
      },
    },
    {
      id: 'vault-key',
      title: 'Encryption key',
      async look(signal) {
        const { vaultKey } = await files(signal);
        if (vaultKey === null) return null;
        if (vaultKey === 'keyring') return fine('Your encryption key is stored in the system keyring.');
        return wrong(
          'info',
          'Your encryption key is stored in a file that any program you run can read.',
          'If your keyring is unlocked whenever Perch starts, move the key there with `perch secrets keyring` and the argument “on”.',
        );
      },
    },
    {
      id: 'sandbox',
      title: 'Browser sandbox',
      async look(signal) {
        const { unsandboxed, hostMode } = await files(signal);
        if (hostMode === 'tab') return null;
        if (!unsandboxed) return fine('The managed Chromium runs in a sandbox.');
        return wrong(
          'warning',
          'The bridge runs as root, so the managed Chromium runs without a sandbox.',
          'Run `perch gateway run` as a user other than root.',
        );
      },
    },
    {
      id: 'chromium',
      title: 'Background browser',
      async look(signal) {
        const { browser, noBrowser, hostMode } = await files(signal);
        if (browser !== null) return fine(`${browser} keeps the gateway running when no tab is open.`);
        const hint =
          'Install chromium-headless-shell, Chromium, Chrome or Edge, or set PERCH_CHROMIUM to its path. Not needed with `perch gateway run --host tab`.';
        return wrong(hostMode === 'tab' ? 'info' : 'error', noBrowser ?? 'No Chromium, Chrome or Edge found on your computer.', hint);
      },
    },
    {
      id: 'desktop',
      title: 'Desktop capture',
      async look(signal) {
        if (!bridge.lends(desktopPort)) return null;
        const { problem } = await bridge.call(desktopPort, 'desktop.check', {}, { signal });
        if (problem === null) return fine('Agents can capture the desktop if you allow it.');
        return wrong('info', `desktop_screenshot is unavailable: ${toClause(problem)}.`, 'Start the bridge in a desktop session.');
      },
    },
    {
      id: 'python',
      title: 'Python',
      async look(signal) {
        const { python } = await machine(signal);
        return python === null
          ? wrong('info', 'Python is not installed. Commands that need it fail.', 'Install Python 3.')
          : fine(`Python ${python}.`);
      },
    },
    ...(bridge.lends(speechPort) ? [speechCheck(bridge)] : []),
  ];
}

const speechCheck = (bridge: DoctorDeps['bridge']): Check => ({
  id: 'speech',
  title: 'Text to speech',
  async look(signal) {
    const { voices } = await bridge.call(speechPort, 'speech.voices', {}, { signal });
    const system = voices.filter(({ id }) => id.startsWith('system:')).length;
    const network = voices.length - system;
    if (network > 0) return fine(`${network} online voices${system > 0 ? ` and ${system} system voices` : ''} available.`);
    if (system > 0) return fine(`${system} system voices available. Online voices can’t be reached.`);
    return wrong(
      'info',
      'No speech engine is installed, and online voices can’t be reached.',
      'Check the internet connection, or install a speech engine (on Debian: apt-get install espeak-ng).',
    );
  },
});
