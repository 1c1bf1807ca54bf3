import type { Server } from 'node:http';

/** Listens on a free port of this machine and reports it to the parent. Ends with the parent. */
export function listenForParent(server: Server): void {
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (address !== null && typeof address === 'object') process.send?.(address.port);
  });
  process.on('disconnect', () => process.exit());
}
