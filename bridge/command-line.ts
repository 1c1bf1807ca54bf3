import { DEFAULT_PORT } from '#shared/link/default-port.ts';

/** In a checkout no `perch` is on the PATH; the installed program is plain JavaScript. */
const isCheckout = import.meta.filename.endsWith('.ts');

/** A command of Perch's as it can be typed here. */
export const commandLine = (words: string, checkout = isCheckout): string => `${checkout ? 'npm run -s perch --' : 'perch'} ${words}`;

/** What starts a gateway on a port. */
export function startCommand(port: number = DEFAULT_PORT, checkout = isCheckout): string {
  const options = port === DEFAULT_PORT ? '' : ` --port ${port}`;
  if (!checkout) return `perch gateway run${options}`;
  return options === '' ? 'npm start' : `npm start --${options}`;
}
