/** Variables that a command inherits from the bridge's environment. No others, since environments may contain tokens and keys. */
const INHERITED_NAMES = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LANGUAGE', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR'];
const WINDOWS_NAMES = [
  'SystemRoot',
  'SystemDrive',
  'ComSpec',
  'PATHEXT',
  'TEMP',
  'TMP',
  'USERPROFILE',
  'USERNAME',
  'APPDATA',
  'LOCALAPPDATA',
  'ProgramFiles',
  'ProgramData',
];

/** Returns a command's environment, sorted by name. `TERM` is set to a value for no terminal. */
export function createCommandEnvironment(
  env: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const windows = platform === 'win32';
  const values = new Map(Object.entries(env).map(([name, value]) => [windows ? name.toUpperCase() : name, value]));
  const names = windows ? [...INHERITED_NAMES, ...WINDOWS_NAMES] : INHERITED_NAMES;
  const inherited = names.flatMap((name) => {
    const value = values.get(windows ? name.toUpperCase() : name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries([...inherited, ['TERM', 'dumb'] as const].sort(([a], [b]) => (a < b ? -1 : 1)));
}
