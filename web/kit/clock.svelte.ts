/** The current time for texts such as “5 minutes ago”, in milliseconds since 1970. Call it while a component is created. */
export function createClock(intervalMs = 10_000): { readonly now: number } {
  let now = $state(Date.now());
  $effect(() => {
    const timer = setInterval(() => (now = Date.now()), intervalMs);
    return () => clearInterval(timer);
  });
  return {
    get now() {
      return now;
    },
  };
}
