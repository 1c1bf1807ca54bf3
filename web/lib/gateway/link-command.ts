import { DEFAULT_PORT } from '#shared/link/default-port.ts';

/** What prints a new link to the bridge that this page is of. */
export const linkCommand = ({ port }: Pick<Location, 'port'> = location): string =>
  `perch open${port === '' || port === String(DEFAULT_PORT) ? '' : ` --port ${port}`}`;
