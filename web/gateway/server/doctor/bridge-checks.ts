import { toClause } from '#shared/clause.ts';
import { speechPort } from '#shared/ports/speech-port.ts';
import { systemPort } from '#shared/ports/system-port.ts';
import { desktopPort } from '#shared/ports/desktop-port.ts';
import { type HealthCheck, type DoctorDeps, reportOk, reportProblem } from './doctor-deps.ts';

/** Clock skew above which tokens and certificates start to fail. */
const MAX_SKEW_MS = 5_000;
const ERROR_SKEW_MS = 5 * 60_000;

/** Checks of the bridge's machine, as reported by the bridge. */
export function bridgeChecks({ bridge, clock, build, environment }: DoctorDeps): HealthCheck[] {
  if (!bridge.provides(systemPort)) {
    const message = 'Perch isn’t running on your computer. Commands, the local API and saving to disk are unavailable.';
    return [{ id: 'bridge', title: 'Local service', run: () => reportProblem('info', message, 'Start it with `perch gateway run`.') }];
  }
  const readAbout = async (signal: AbortSignal) => {
    const [before, started] = [clock.now(), clock.monotonic()];
    const info = await bridge.call(systemPort, 'system.about', {}, { signal });
    // The bridge read its clock at some time in between.
    const elapsed = clock.monotonic() - started;
    return { ...info, skew: Math.max(0, Math.abs(info.now - (before + elapsed / 2)) - elapsed / 2) };
  };
  let pendingAbout: ReturnType<typeof readAbout> | undefined;
  const getAbout = (signal: AbortSignal): ReturnType<typeof readAbout> => (pendingAbout ??= readAbout(signal));
  let pendingFaults: ReturnType<typeof readFaults> | undefined;
  const readFaults = (signal: AbortSignal) => bridge.call(systemPort, 'system.faults', {}, { signal });
  const getFaults = (signal: AbortSignal): ReturnType<typeof readFaults> => (pendingFaults ??= readFaults(signal));
  return [
    {
      id: 'bridge',
      title: 'Local service',
      async run(signal) {
        const { version, build: bridgeBuild } = await getAbout(signal);
        if (bridgeBuild === build) return reportOk(`Connected to Perch ${version}.`);
        return reportProblem(
          'warning',
          `The local service has build ${bridgeBuild}, but this app runs build ${build}.`,
          'Reload the app. If that doesn’t help, restart Perch with `perch gateway run`.',
        );
      },
    },
    {
      id: 'version',
      title: 'Local service version',
      async run(signal) {
        const { version } = await getAbout(signal);
        if (version === environment.release) return reportOk(`The local service and the app run version ${version}.`);
        return reportProblem(
          'warning',
          `The local service runs version ${version}, but the app runs ${environment.release}.`,
          'Restart Perch with `perch gateway run`, then reload the app.',
        );
      },
    },
    {
      id: 'clock',
      title: 'Clock',
      async run(signal) {
        const { skew } = await getAbout(signal);
        if (skew < MAX_SKEW_MS) return reportOk('The clocks of this browser and your computer match.');
        const seconds = Math.round(skew / 1000).toLocaleString('en');
        return reportProblem(
          skew < ERROR_SKEW_MS ? 'warning' : 'error',
          `The clocks of this browser and your computer differ by ${seconds} s.`,
          'Turn on automatic time on both computers.',
        );
      },
    },
    {
      id: 'file-modes',
      title: 'File permissions',
      async run(signal) {
        const { open, modesUnknown } = await getFaults(signal);
        if (modesUnknown !== null) return reportProblem('info', modesUnknown);
        const [first, ...more] = open;
        if (!first) return reportOk('Only you can access the token, the keys and the home directory.');
        const names = [first, ...more].map(({ path, mode }) => `${path} (mode ${mode})`).join(', ');
        const commands = [first, ...more].map(({ path, wanted: mode }) => `chmod ${mode} '${path}'`).join('; ');
        return reportProblem('error', `Other users can read or change ${names}.`, `Run: ${commands}`);
      },
    },
    {
      id: 'vault-key',
      title: 'Encryption key',
      async run(signal) {
        const { vaultKey } = await getFaults(signal);
        if (vaultKey === null) return null;
        if (vaultKey === 'keyring') return reportOk('Your encryption key is stored in the system keyring.');
        return reportProblem(
          'info',
          'Your encryption key is stored in a file that any program you run can read.',
          'If your keyring is unlocked whenever Perch starts, move the key there with `perch secrets keyring on`.',
        );
      },
    },
    {
      id: 'sandbox',
      title: 'Browser sandbox',
      async run(signal) {
        const { unsandboxed, hostMode } = await getFaults(signal);
        if (hostMode === 'tab') return null;
        if (!unsandboxed) return reportOk('The background browser runs in a sandbox.');
        return reportProblem(
          'warning',
          'Perch runs as root, so the background browser runs without a sandbox.',
          'Run `perch gateway run` as a user other than root.',
        );
      },
    },
    {
      id: 'chromium',
      title: 'Background browser',
      async run(signal) {
        const { browser, noBrowser, hostMode } = await getFaults(signal);
        if (browser !== null) return reportOk(`${browser} keeps the gateway running when no tab is open.`);
        const hint =
          'Install chromium-headless-shell, Chromium, Chrome or Edge, or set PERCH_CHROMIUM to its path. Not needed with `perch gateway run --host tab`.';
        return reportProblem(
          hostMode === 'tab' ? 'info' : 'error',
          noBrowser ?? 'No Chromium, Chrome or Edge found on your computer.',
          hint,
        );
      },
    },
    {
      id: 'desktop',
      title: 'Desktop capture',
      async run(signal) {
        if (!bridge.provides(desktopPort)) return null;
        const { problem } = await bridge.call(desktopPort, 'desktop.check', {}, { signal });
        if (problem === null) return reportOk('Agents can capture the desktop if you allow it.');
        return reportProblem('info', `Agents can’t take screenshots. ${toClause(problem)}.`, 'Start Perch in a desktop session.');
      },
    },
    {
      id: 'python',
      title: 'Python',
      async run(signal) {
        const { python } = await getAbout(signal);
        return python === null
          ? reportProblem('info', 'Python is not installed. Commands that need it fail.', 'Install Python 3.')
          : reportOk(`Python ${python}.`);
      },
    },
    ...(bridge.provides(speechPort) ? [speechCheck(bridge)] : []),
  ];
}

const speechCheck = (bridge: DoctorDeps['bridge']): HealthCheck => ({
  id: 'speech',
  title: 'Text to speech',
  async run(signal) {
    const { voices } = await bridge.call(speechPort, 'speech.voices', {}, { signal });
    const system = voices.filter(({ id }) => id.startsWith('system:')).length;
    const network = voices.length - system;
    if (network > 0) return reportOk(`${network} online voices${system > 0 ? ` and ${system} system voices` : ''} available.`);
    if (system > 0) return reportOk(`${system} system voices available. Online voices can’t be reached.`);
    return reportProblem(
      'info',
      'No speech engine is installed, and online voices can’t be reached.',
      'Check the internet connection, or install a speech engine (on Debian: apt-get install espeak-ng).',
    );
  },
});
