/** What this browser promises about the app's data, and how much room it has. */
class Storage {
  persisted = $state<boolean | null>(null);
  /** Bytes. */
  usage = $state<number | null>(null);
  quota = $state<number | null>(null);
  #asked = false;

  async read(): Promise<void> {
    this.persisted = (await navigator.storage?.persisted?.().catch(() => null)) ?? null;
    const estimate = await navigator.storage?.estimate?.().catch(() => null);
    this.usage = estimate?.usage ?? null;
    this.quota = estimate?.quota ?? null;
  }

  /** Asks the browser, once a visit, not to evict the data: called at the first that is worth keeping. */
  async persist(): Promise<void> {
    if (this.#asked) return;
    this.#asked = true;
    await this.ask();
  }

  /** Asks again, because the person wants it. */
  async ask(): Promise<void> {
    if (await navigator.storage?.persist?.().catch(() => false)) this.persisted = true;
    await this.read();
  }
}

export const storage = new Storage();
