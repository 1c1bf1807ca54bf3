// The floor of the change log: transactions that note nothing (host.ts puts this in the place of web/gateway/storage/change-log.ts).
import type { Change } from '../../../web/gateway/storage/change-log.ts';

export * from '../../../web/gateway/storage/change-log.ts';

export class ChangeNotes {
  readonly changes: Change[] = [];

  async note(): Promise<void> {}
}
