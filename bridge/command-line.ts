import { DEFAULT_PORT } from '#shared/link/default-port.ts';

/** A checkout has no `perch` on the PATH. The installed program is plain JavaScript. */
const isCheckout = import.meta.filename.endsWith('.ts');

/** A Perch command as the user types it: through npm in a checkout. */
export const toCommandLine = (words: string, checkout = isCheckout): string => `${checkout ? 'npm run -s perch --' : 'perch'} ${words}`;

/** Command that starts a gateway on `port`. */
export function toStartCommand(port: number = DEFAULT_PORT, checkout = isCheckout): string {
  const options = port === DEFAULT_PORT ? '' : ` --port ${port}`;
  if (!checkout) return `perch gateway run${options}`;
  return options === '' ? 'npm start' : `npm start --${options}`;
}
