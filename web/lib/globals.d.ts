/** Launches of the installed app: `launch_handler` of the manifest focuses a window, and this tells it what was asked for. */
interface Window {
  launchQueue?: { setConsumer(consumer: (launch: { targetURL?: string }) => void): void };
}
