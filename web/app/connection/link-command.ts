import { DEFAULT_PORT } from '#shared/link/default-port.ts';

/** The command that prints a new link to this page's bridge. */
export const getLinkCommand = ({ port }: Pick<Location, 'port'> = location): string =>
  `perch open${port === '' || port === String(DEFAULT_PORT) ? '' : ` --port ${port}`}`;
