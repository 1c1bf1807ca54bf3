const MAX_CHARS = 1_000;

/** What screen readers are told: finished replies, not every word as it comes. */
class Announcer {
  text = $state('');

  say(text: string): void {
    const plain = text.replace(/^[>#\s]+|[`*|]/gm, '').trim();
    const short = plain.length > MAX_CHARS ? `${plain.slice(0, MAX_CHARS)} …` : plain;
    // A region that stays as it is says nothing: the same again differs by a space that is not heard.
    this.text = short !== '' && short === this.text ? `${short}\u00a0` : short;
  }
}

export const announcer = new Announcer();
