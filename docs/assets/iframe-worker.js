// Search runs in a worker, and browsers start none from file://. There, a hidden frame does its work.
(() => {
  if (location.protocol !== "file:") return;

  const inside = (address) => `<!doctype html><body><script>
    self.postMessage = (data) => parent.postMessage({ dalaWorker: ${JSON.stringify(address)}, data }, "*");
    self.importScripts = (...names) => names.reduce((before, name) => before.then(() => new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = new URL(name, ${JSON.stringify(address)});
      script.onload = done;
      script.onerror = failed;
      document.body.append(script);
    })), Promise.resolve());
  <\/script><script src="${address}"><\/script>`;

  window.Worker = class extends EventTarget {
    constructor(name) {
      super();
      const address = new URL(name, document.baseURI).href;
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.ready = new Promise((done) => { this.frame.onload = done; });
      this.frame.srcdoc = inside(address);
      document.body.append(this.frame);
      this.hear = (event) => {
        if (event.source !== this.frame.contentWindow || event.data?.dalaWorker !== address) return;
        const message = new MessageEvent("message", { data: event.data.data });
        this.dispatchEvent(message);
        this.onmessage?.(message);
      };
      window.addEventListener("message", this.hear);
    }
    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {
      window.removeEventListener("message", this.hear);
      this.frame.remove();
    }
  };
})();
