//! Options of a client from an object.

use std::time::Duration;

use edgecask_client::{Error, Opener, Options, Result};
use js_sys::{Function, Object, Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::WebSocket;

/// Options as the URL and the settings say. Sockets come from `open`, a function of the URL, or there is the one that was given.
///
/// # Errors
/// The URL is none, or a setting is unknown or of another type.
pub(crate) fn options(
    url: &str,
    settings: &Object,
    open: Option<Function>,
    socket: JsValue,
) -> Result<Options> {
    let mut options = Options::from_url(url)?;
    for name in Object::keys(settings).iter() {
        let value = Reflect::get(settings, &name).unwrap_or(JsValue::UNDEFINED);
        if !value.is_undefined() {
            set(&mut options, &name.as_string().unwrap_or_default(), &value)?;
        }
    }
    if !socket.is_undefined() {
        return Ok(options.opened_by(Opener::single(socket.unchecked_into())));
    }
    let Some(open) = open else { return Ok(options) };
    let url = match &options.address {
        edgecask_client::Address::WebSocket(url) => JsValue::from_str(url),
        _ => JsValue::UNDEFINED,
    };
    Ok(options.opened_by(Opener::new(move || {
        let opened = open.call1(&JsValue::UNDEFINED, &url);
        async move {
            let opened = opened.map_err(|why| Opener::refused(&why))?;
            let socket = JsFuture::from(Promise::resolve(&opened)).await;
            let socket = socket.map_err(|why| Opener::refused(&why))?;
            Ok(socket.unchecked_into::<WebSocket>())
        }
    })))
}

fn set(options: &mut Options, name: &str, value: &JsValue) -> Result<()> {
    let wrong = |wanted: &str| Error::Invalid(format!("the option {name} is {wanted}").into());
    let text = || value.as_string().ok_or_else(|| wrong("text"));
    let number = || {
        let number = value.as_f64().filter(|number| *number >= 0.0 && number.fract() == 0.0);
        number.ok_or_else(|| wrong("a whole number"))
    };
    let time = || {
        let number = value.as_f64().filter(|number| *number >= 0.0);
        number.map(|ms| Duration::from_millis(ms as u64)).ok_or_else(|| wrong("a number of milliseconds"))
    };
    match name {
        "user" => options.user = Some(text()?),
        "password" => options.password = Some(text()?),
        "name" => options.name = Some(text()?),
        "database" => options.database = number()? as u32,
        "timeoutMs" => options.timeout = time()?,
        "connectTimeoutMs" => options.connect_timeout = time()?,
        "silenceMs" => options.silence = time()?,
        "poolMax" => options.pool_max = number()? as usize,
        "blockingMax" => options.blocking_max = number()? as usize,
        "valueMaxBytes" => options.value_max_bytes = number()? as u64,
        _ => return Err(Error::Invalid(format!("there is no option {name}").into())),
    }
    Ok(())
}
